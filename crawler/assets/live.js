
"use strict";
const byId = (id) => document.getElementById(id);

// Parts of the page arrive as events. A part that somebody is using waits until they have left it.
const waiting = new Map();
const inUse = (part) => {
  const selection = document.getSelection();
  // What is under the pointer stays there: nobody may click on what has just come.
  return part.querySelector("a:hover, button:hover, summary:hover") !== null || part.contains(document.activeElement) || (!selection.isCollapsed && selection.containsNode(part, true));
};
// One button pauses and resumes, so that it keeps the focus of whoever presses it.
const steer = () => {
  const state = byId("state").querySelector("[data-state]")?.dataset.state;
  const pause = byId("pause");
  pause.dataset.do = state === "paused" ? "resume" : "pause";
  pause.textContent = state === "paused" ? "Resume" : "Pause";
};
const show = (id, html) => {
  const part = byId(id);
  if (!part) return;
  if (inUse(part)) {
    waiting.set(id, html);
    return;
  }
  waiting.delete(id);
  const open = [...part.querySelectorAll("details")].map((details) => details.open);
  const places = [...part.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((details, at) => { details.open = open[at] ?? false; });
  part.querySelectorAll(".scroll").forEach((box, at) => { [box.scrollLeft, box.scrollTop] = places[at] ?? [0, 0]; });
  if (id === "state") steer();
};
for (const left of ["focusout", "pointerout"]) {
  document.addEventListener(left, () => { if (waiting.size) setTimeout(() => waiting.forEach((html, id) => show(id, html))); });
}

const events = new EventSource("/events");
events.addEventListener("fragment", (event) => {
  const { id, html } = JSON.parse(event.data);
  show(id, html);
});
events.addEventListener("open", () => { byId("connection").textContent = ""; });
events.addEventListener("error", () => { byId("connection").textContent = "The crawler does not answer; trying again."; });
events.addEventListener("end", () => {
  events.close();
  byId("connection").textContent = "This is how it stood at the end; “crawler report” shows all of it.";
  for (const button of document.querySelectorAll("[data-do]")) button.disabled = true;
});

// The token comes in the fragment of the address printed at start. It is kept for this tab, and leaves the address bar.
const key = "crawl-token";
let token = location.hash.slice(1) || sessionStorage.getItem(key) || "";
const unlock = () => {
  sessionStorage.setItem(key, token);
  byId("controls").hidden = !token;
  byId("locked").hidden = Boolean(token);
};
if (location.hash.length === 33) history.replaceState(null, "", location.pathname);
else if (location.hash) token = sessionStorage.getItem(key) || "";
unlock();
steer();
byId("locked").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  unlock();
  if (token) byId("pause").focus();
});
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", async () => {
    const said = byId("answer");
    try {
      const answer = await fetch("/control", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ do: button.dataset.do }),
      });
      said.textContent = answer.ok ? (button.dataset.do === "stop" ? "Stopping." : "") : await answer.text();
      if (answer.status === 401) {
        byId("token-help").textContent = "This is not the token that was printed when the crawl started.";
        token = "";
        unlock();
        byId("token").focus();
      }
    } catch {
      said.textContent = "The crawler does not answer.";
    }
  });
}
