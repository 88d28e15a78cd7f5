// The page's own behaviour. The reader's key stays in this page's memory: it is never stored, and goes nowhere
// but to this server, in a header, when the reader asks to check it.

const field = document.querySelector("#key");
const output = document.querySelector("#checked");

for (const place of document.querySelectorAll(".url")) place.textContent = location.origin;

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
    if (response.ok) tell(`Your key works. Balance: ${answer.balance} ${answer.currency}.`, false);
    else tell(`${response.status} ${answer.code}: ${answer.message}`, true);
  } catch {
    tell("The server did not answer.", true);
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest(".copy");
  if (!button) return;
  const text = button.closest("figure").querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without https there is no clipboard: selected text can be copied by hand.
    getSelection().selectAllChildren(button.closest("figure").querySelector("code"));
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
});

// On a phone the menu is closed until it is wanted, and closes once it was used.
const menu = document.querySelector("nav details");
const narrow = matchMedia("(max-width: 52rem)");
const fold = () => (menu.open = !narrow.matches);
narrow.addEventListener("change", fold);
menu.addEventListener("click", (event) => event.target.closest("a") && fold());
fold();

function fill() {
  const key = field.value.trim();
  for (const place of document.querySelectorAll(".key")) {
    place.textContent = key || "YOUR_API_KEY";
    place.classList.toggle("masked", key !== "" && field.type === "password");
  }
}

function tell(text, bad) {
  output.textContent = text;
  output.className = bad ? "bad" : "";
}
