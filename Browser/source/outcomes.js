// What came of an order whose popup had closed before it could say so, until the popup opens again: the last one of each tab, in the memory
// of the background script alone. It has names of items, as the popup does, and never a secret.

/** Long enough to come back from a prompt, or from another window. */
const minutesMax = 10;
const tabsMax = 16;

export class Outcomes {
    #host;
    #marks;
    /** @type {Map<number, { number: number, sentence: string, timer: ReturnType<typeof setTimeout> }>} */
    #tabs = new Map();
    #last = 0;

    /** @param {import("./host.js").Host} host @param {import("./marks.js").Marks} marks */
    constructor(host, marks) {
        this.#host = host;
        this.#marks = marks;
        chrome.tabs.onRemoved.addListener((tab) => this.#drop(tab));
    }

    /**
     * Keeps what came of an order until a popup has shown it.
     * @param {number} tab @param {string} sentence @returns {Outcome | null}
     */
    keep(tab, sentence) {
        this.#drop(tab);
        const [oldest] = this.#tabs.keys();
        if (this.#tabs.size >= tabsMax && oldest !== undefined) this.#drop(oldest);
        this.#last += 1;
        const number = this.#last;
        // The connection keeps the browser from ending this script.
        this.#host.retain();
        this.#tabs.set(tab, { number, sentence, timer: setTimeout(() => this.#drop(tab), minutesMax * 60_000) });
        return this.of(tab);
    }

    /** Marks the icons of the tabs whose popup has closed. */
    mark() {
        for (const tab of this.#tabs.keys()) this.#marks.set(tab, "outcome", "!", "Vauban: open it to see what came of your last choice");
    }

    /**
     * What is to be shown in a tab.
     * @param {number} tab @returns {Outcome | null}
     */
    of(tab) {
        const outcome = this.#tabs.get(tab);
        return outcome ? { tab, number: outcome.number, sentence: outcome.sentence } : null;
    }

    /**
     * Forgets what a popup has shown.
     * @param {number} tab @param {number} number
     */
    shown(tab, number) {
        if (this.#tabs.get(tab)?.number === number) this.#drop(tab);
    }

    /** @param {number} tab */
    #drop(tab) {
        const outcome = this.#tabs.get(tab);
        if (!outcome) return;
        clearTimeout(outcome.timer);
        this.#tabs.delete(tab);
        this.#marks.clear(tab, "outcome");
        this.#host.release();
    }
}
