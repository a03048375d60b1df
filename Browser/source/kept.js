// What the background script keeps of a tab, in its memory alone: one thing for each tab, for a time, and of 16 tabs at most. offers.js keeps
// the form that you sent, outcomes.js what came of your choice.

const tabsMax = 16;

/** @template Value */
export class Kept {
    #host;
    #secondsMax;
    #dropped;
    /** @type {Map<number, { number: number, value: Value, timer: ReturnType<typeof setTimeout> }>} */
    #tabs = new Map();
    #last = 0;

    /**
     * `dropped` is called with the tab whenever something is kept no longer, for whatever reason.
     * @param {{ retain(): void, release(): void }} host @param {number} secondsMax @param {(tab: number) => void} dropped
     */
    constructor(host, secondsMax, dropped) {
        this.#host = host;
        this.#secondsMax = secondsMax;
        this.#dropped = dropped;
    }

    /**
     * Keeps something in place of what was kept of the tab. A later thing has a greater number, in any tab.
     * @param {number} tab @param {Value} value
     */
    keep(tab, value) {
        // The connection to the host also keeps the browser from ending this script, and with it what is kept.
        this.#host.retain();
        this.drop(tab);
        const [oldest] = this.#tabs.keys();
        if (this.#tabs.size >= tabsMax && oldest !== undefined) this.drop(oldest);
        this.#last += 1;
        const number = this.#last;
        this.#tabs.set(tab, { number, value, timer: setTimeout(() => this.drop(tab, number), this.#secondsMax * 1000) });
    }

    /**
     * What is kept of a tab, with its number.
     * @param {number} tab @returns {{ number: number, value: Value } | null}
     */
    of(tab) {
        return this.#tabs.get(tab) ?? null;
    }

    /** The tabs of which something is kept. */
    tabs() {
        return this.#tabs.keys();
    }

    /**
     * Forgets what is kept of a tab: whatever that is, or only what has this number.
     * @param {number} tab @param {number} [number]
     */
    drop(tab, number) {
        const kept = this.#tabs.get(tab);
        if (!kept || (number !== undefined && kept.number !== number)) return;
        clearTimeout(kept.timer);
        this.#tabs.delete(tab);
        this.#dropped(tab);
        this.#host.release();
    }
}
