// What came of an order whose popup had closed before it could say so, until the popup opens again: the last one of each tab, in the memory
// of the background script alone. It has names of items, as the popup does, and never a secret.

import { Kept } from "./kept.js";

/** Long enough to come back from a prompt, or from another window. */
const secondsMax = 600;

export class Outcomes {
    #marks;
    /** @type {Kept<string>} */
    #sentences;

    /** @param {import("./host.js").Host} host @param {import("./marks.js").Marks} marks */
    constructor(host, marks) {
        this.#marks = marks;
        this.#sentences = new Kept(host, secondsMax, (tab) => marks.clear(tab, "outcome"));
        chrome.tabs.onRemoved.addListener((tab) => this.#sentences.drop(tab));
    }

    /**
     * Keeps what came of an order until a popup has shown it.
     * @param {number} tab @param {string} sentence @returns {Outcome | null}
     */
    keep(tab, sentence) {
        this.#sentences.keep(tab, sentence);
        return this.of(tab);
    }

    /** Marks the icons of the tabs whose popup has closed. */
    mark() {
        for (const tab of this.#sentences.tabs()) this.#marks.set(tab, "outcome", "!", "Vauban: open it to see what came of your last choice");
    }

    /**
     * What is to be shown in a tab.
     * @param {number} tab @returns {Outcome | null}
     */
    of(tab) {
        const kept = this.#sentences.of(tab);
        return kept && { tab, number: kept.number, sentence: kept.value };
    }

    /**
     * Forgets what a popup has shown.
     * @param {number} tab @param {number} number
     */
    shown(tab, number) {
        this.#sentences.drop(tab, number);
    }
}
