// What the pages do in the browser. Without it they can be read, and the search leads to the index.

for (const place of document.querySelectorAll(".url")) place.textContent = location.origin;

// Languages: a choice applies to every example and to later visits.

const LANGUAGE = "language";

function choose(language) {
  for (const tab of document.querySelectorAll(`.tabs input[value="${language}"]`)) {
    tab.checked = true;
  }
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches(".tabs input")) return;
  // The chosen tab stays where it is, whatever the examples above it now need.
  const before = target.parentElement.getBoundingClientRect().top;
  choose(target.value);
  scrollBy({ top: target.parentElement.getBoundingClientRect().top - before, behavior: "instant" });
  try {
    localStorage.setItem(LANGUAGE, target.value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
});

try {
  const language = localStorage.getItem(LANGUAGE);
  if (/^\w+$/.test(language)) choose(language);
} catch {
  // Without storage every page begins with the first language.
}

// Copying

document.addEventListener("click", async ({ target }) => {
  const button = target.closest(".copy");
  if (!button) return;
  const code = button.closest("figure").querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Without https there is no clipboard: selected text can be copied by hand.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
});

// The contents of a phone close once they were used.

const menu = document.querySelector("#menu");
document.querySelector("nav").addEventListener("click", ({ target }) => {
  if (target.closest("a")) menu.checked = false;
});

// Search, in the entries of the index. A result is a copy of its entry.

const INDEX = "/docs/reference";
const RESULTS = 12;
const search = document.querySelector("#search");
const found = document.querySelector("#found");
const list = found.querySelector("ul");
const count = found.querySelector("p");

let index;
function readIndex() {
  return (index ??= fetch(INDEX)
    .then((response) => response.text())
    .then((html) => new DOMParser().parseFromString(html, "text/html"))
    .catch((error) => {
      index = undefined;
      throw error;
    }));
}

function rank(entry, text, words) {
  const name = entry.querySelector("a").textContent.toLowerCase();
  const all = entry.textContent.toLowerCase();
  if (!words.every((word) => all.includes(word))) return 0;
  // Of two that are as near, a call comes before its fields and errors.
  const more = entry.parentElement.dataset.kind === "Endpoint" ? 1.5 : 0;
  if (name === text) return 4 + more;
  if (name.startsWith(text)) return 3 + more;
  return words.every((word) => name.includes(word)) ? 2 + more : 1;
}

async function find() {
  const text = search.value.trim().toLowerCase();
  found.hidden = text === "";
  if (text === "") return;
  const words = text.split(/\s+/);
  let entries;
  try {
    entries = [...(await readIndex()).querySelectorAll("main .entries li")];
  } catch {
    list.replaceChildren();
    count.textContent = "The server did not answer.";
    return;
  }
  if (search.value.trim().toLowerCase() !== text) return;
  const hits = entries
    .map((entry) => ({ entry, score: rank(entry, text, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
  count.textContent =
    hits.length > RESULTS ? `${RESULTS} of ${hits.length} results` : `${hits.length} results`;
  list.replaceChildren(...hits.slice(0, RESULTS).map(resultOf));
}

function resultOf(entry) {
  const item = document.createElement("li");
  const link = document.importNode(entry.querySelector("a"), true);
  const kind = document.createElement("small");
  kind.textContent = entry.parentElement.dataset.kind;
  const about = document.importNode(entry.querySelector("span"), true);
  link.append(kind, about);
  item.append(link);
  return item;
}

function close() {
  found.hidden = true;
}

search.addEventListener("focus", () => void readIndex().catch(() => {}));
search.addEventListener("input", find);
search.form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
search.form.addEventListener("keydown", (event) => {
  const links = [search, ...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    close();
    search.focus();
  } else if (step && !found.hidden) {
    event.preventDefault();
    links.at((links.indexOf(document.activeElement) + step) % links.length).focus();
  }
});
search.form.addEventListener("focusout", ({ relatedTarget }) => {
  if (!search.form.contains(relatedTarget)) close();
});
// Safari moves the focus away from the search before a click reaches its link.
list.addEventListener("mousedown", (event) => event.preventDefault());
list.addEventListener("click", ({ target }) => target.closest("a") && close());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input")) return;
  event.preventDefault();
  search.focus();
});

// Anchors of the time when the documentation was one page lead to where their subject is now.

const old = decodeURIComponent(location.hash.slice(1));
if (location.pathname === "/docs" && old !== "" && !document.getElementById(old)) {
  readIndex().then(
    (page) => {
      const entry = page.getElementById(old);
      if (entry) location.replace(entry.querySelector("a")?.href ?? `${INDEX}#${old}`);
    },
    () => {},
  );
}

// The reader's key stays in this page's memory: it is never stored, and goes nowhere but to this server, in a header, when
// the reader asks to check it.

const field = document.querySelector("#key");
if (field) {
  const output = document.querySelector("#checked");

  const fill = () => {
    const key = field.value.trim();
    for (const place of document.querySelectorAll(".key")) {
      place.textContent = key || "YOUR_API_KEY";
      place.classList.toggle("masked", key !== "" && field.type === "password");
    }
  };

  const tell = (text, bad) => {
    output.textContent = text;
    output.className = bad ? "bad" : "";
  };

  field.addEventListener("input", () => {
    fill();
    tell("", false);
  });

  // Masked until it is revealed, here and in the calls, so that nobody reads it on a shared screen; copied calls have it.
  const reveal = document.querySelector("#reveal");
  reveal.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    reveal.textContent = shown ? "Hide" : "Show";
    reveal.setAttribute("aria-pressed", String(shown));
    fill();
  });

  document.querySelector("#own").addEventListener("submit", async (event) => {
    event.preventDefault();
    tell("Asking…", false);
    try {
      const response = await fetch("/api/v1/balance", {
        headers: { "x-api-key": field.value.trim() },
      });
      const answer = await response.json();
      if (!["success", "error"].includes(answer?.status)) throw new Error("not this API's JSON");
      if (response.ok)
        tell(`Your key works. Balance: ${answer.balance} ${answer.currency}.`, false);
      else tell(`${response.status} ${answer.code}: ${answer.message}`, true);
    } catch {
      tell("The server did not answer.", true);
    }
  });
}
