#!/usr/bin/env bash
# What looking on costs the crawler: CPU time a page on the benchmark's web, with no display, with the terminal's, and with the
# live page and one viewer; in turns. Needs the release builds of crawler and serve-web, or CRAWLER and SERVE_WEB naming them.
set -euo pipefail
cd "$(dirname "$0")/../.."
crawler=${CRAWLER:-target/release/crawler} serve=${SERVE_WEB:-target/release/serve-web}
turns=${1:-3} port=8170 work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
"$serve" --web benchmark --coined --port $port > /dev/null &
server=$!
"$serve" --web benchmark --coined --port $port --seeds > "$work/seeds"
until curl -so /dev/null "http://127.0.0.1:$port/"; do sleep 0.1; done

# One crawl; prints user and system seconds and pages. $1: none, terminal or live.
one() {
    local dir=$work/crawl flags=(--on-duplicate keep --delay 0s --address-delay 0s --delay-factor 0 --max-crawl-delay 0s --scope host
        --allow-private --connect-to "::127.0.0.1:$port" --dir "$work/crawl" --seeds "$work/seeds" --patience 2s --max-pages "${PAGES:-100000}")
    rm -rf "$dir"
    export TIMEFORMAT='%U %S' TERM=xterm
    case $1 in
        none) { time "$crawler" crawl "${flags[@]}" -q --progress none || true; } 2> "$work/time" ;;
        # script gives it a terminal; what it spends itself is not counted.
        terminal)
            printf 'export TIMEFORMAT="%%U %%S"; { time %s crawl %s 2>/dev/tty || true; } 2> %s\n' "$crawler" "${flags[*]}" "$work/time" > "$work/run"
            script -qec "bash $work/run" /dev/null > /dev/null ;;
        live)
            (until curl -sN http://127.0.0.1:8171/events > /dev/null; do sleep 0.05; done) &
            local viewer=$!
            { time "$crawler" crawl "${flags[@]}" --progress none --dashboard 127.0.0.1:8171 2> /dev/null || true; } 2> "$work/time"
            wait $viewer ;;
    esac
    echo "$1 $(tail -1 "$work/time") $("$crawler" report "$dir" --json | grep -oP '"pages": \K\d+')"
}

for turn in $(seq "$turns"); do
    for how in none terminal live; do one $how; done
done | awk '{ us = ($2 + $3) * 1e6 / $4; printf "%-9s %7.1f us of CPU a page (%d pages)\n", $1, us, $4; n[$1]++; v[$1, n[$1]] = us }
    function middle(how,  i, j, t) {
        for (i = 1; i <= n[how]; i++) for (j = i + 1; j <= n[how]; j++) if (v[how, j] < v[how, i]) { t = v[how, i]; v[how, i] = v[how, j]; v[how, j] = t }
        return v[how, int((n[how] + 1) / 2)]
    }
    END { none = middle("none"); split("terminal live", hows, " ")
        for (i = 1; i <= 2; i++) printf "%s: %+.1f %% (medians)\n", hows[i], 100 * (middle(hows[i]) / none - 1) }'
