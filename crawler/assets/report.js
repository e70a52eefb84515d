
"use strict";
// Tables with the class "sortable" sort by a click on a head; a search field filters the rows of the table it controls.
const value = (row, column) => {
  const cell = row.cells[column];
  const sort = cell.dataset.sort;
  return sort === undefined ? cell.textContent.trim().toLowerCase() : Number(sort);
};
const sortBy = (table, column, direction) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [value(row, column), row]);
  rows.sort(([a], [b]) => direction * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
  body.append(...rows.map(([, row]) => row));
};
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = head.classList.contains("n");
      const now = head.getAttribute("aria-sort");
      const falling = numbers ? now !== "descending" : now === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sortBy(table, column, falling ? -1 : 1);
    });
  });
}
for (const search of document.querySelectorAll("input[data-status]")) {
  const rows = [...document.getElementById(search.getAttribute("aria-controls")).tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const status = document.getElementById(search.dataset.status);
  search.closest("[hidden]")?.removeAttribute("hidden");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    status.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}
// The search over all pages reads its data when it is first used, and shows the first matches.
const find = document.getElementById("find");
if (find) {
  const found = document.getElementById("found"), status = document.getElementById("find-status"), most = 100;
  let pages = null;
  find.closest("[hidden]").removeAttribute("hidden");
  // Letters that cannot be seen, or change how others are shown, by their numbers.
  const plain = (text) => text.replace(/[\p{Cc}\p{Cf}]/gu, (letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  const shown = ([url, title, verdict, code]) => {
    const item = document.createElement("li"), sign = document.createElement("span");
    sign.className = `verdict ${verdict}`;
    sign.textContent = verdict;
    const name = document.createElement(/^https?:/.test(url) ? "a" : "span");
    name.textContent = plain(url);
    if (name.localName === "a") Object.assign(name, { href: url, rel: "noreferrer noopener" });
    item.append(sign, " ", String(code ?? ""), " ", name);
    if (title) item.append(document.createElement("br"), plain(title));
    return item;
  };
  find.addEventListener("input", () => {
    pages ??= JSON.parse(document.getElementById("all-pages").content.textContent).map((page) => [page.join(" ").toLowerCase(), page]);
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length ? pages.filter(([text]) => words.every((word) => text.includes(word))) : [];
    found.replaceChildren(...hits.slice(0, most).map(([, page]) => shown(page)));
    const first = hits.length > most ? `, the first ${most} shown` : "";
    status.textContent = words.length ? `${hits.length} of ${pages.length} pages${first}` : "";
  });
}
