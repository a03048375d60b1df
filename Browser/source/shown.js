// The parts of the popup. All text of items and pages is set as text, never as HTML. The title names the state, for tests and screen
// readers.

const choices = element("choices");

/** Takes all choices away. */
export function clear() {
    choices.replaceChildren();
}

/**
 * Adds a choice; one that does nothing cannot be chosen now, and its detail says why.
 * @param {string} title @param {string} detail @param {(() => void) | null} chosen
 */
export function offer(title, detail, chosen) {
    const button = document.createElement("button");
    const small = document.createElement("small");
    small.textContent = detail;
    button.append(title, small);
    if (chosen) button.addEventListener("click", chosen);
    button.disabled = chosen === null;
    const entry = document.createElement("li");
    entry.append(button);
    choices.append(entry);
}

/** Gives the first choice the focus. */
export function focus() {
    /** @type {HTMLButtonElement | null} */ (choices.querySelector("button:enabled"))?.focus();
}

/** Lets nothing more be chosen. */
export function disable() {
    for (const button of choices.querySelectorAll("button")) button.disabled = true;
}

/** @param {string} name @param {string} sentence */
export function say(name, sentence) {
    document.title = `Vauban: ${name}`;
    // For Benchmarks/browser, in the browser's own clock.
    performance.mark(name);
    element("status").textContent = sentence;
}

/** @param {OfferedItem} item */
export function about(item) {
    return `${item.title} · ${item.why}${item.asks ? " · asks you first" : ""}`;
}

/**
 * A page's text as part of a line of ours: short, and without characters that are invisible or change the order of others.
 * @param {string | null | undefined} text
 */
export function plain(text) {
    return (text ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").slice(0, 120);
}

/** @param {string} id @returns {HTMLElement} */
export function element(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`popup.html has no ${id}`);
    return found;
}
