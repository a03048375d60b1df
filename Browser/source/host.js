// The connection to vauban-browser-host, which has the keychain. It lasts as long as somebody needs it, and nothing of it is kept.

const name = "vauban.browser";
/** Of the messages (Specs/browser.md). */
const version = 2;
/** Of those with what only a newer Vauban knows, which has said that it does. */
const versionToLose = 3;

/** A refusal of the host, or why it cannot be reached. */
export class HostError extends Error {
    /** @param {string} message @param {boolean} locked */
    constructor(message, locked) {
        super(message);
        this.locked = locked;
    }
}

export class Host {
    /** @type {Port | null} */
    #port = null;
    #last = 0;
    #users = 0;
    /** @type {Map<number, { done: (reply: any) => void, failed: (error: HostError) => void, waiting: (place: string) => void }>} */
    #pending = new Map();

    /** Keeps the connection until `release`. */
    retain() {
        this.#users += 1;
    }

    release() {
        this.#users -= 1;
        this.#end();
    }

    /**
     * Sends a request, and returns the reply. `waiting` is called with the place where Vauban asks you.
     * @param {object} request @param {(place: string) => void} waiting @returns {Promise<any>}
     */
    ask(request, waiting) {
        const port = this.#port ?? this.#connect();
        this.#last += 1;
        const id = this.#last;
        return new Promise((done, failed) => {
            this.#pending.set(id, { done, failed, waiting });
            port.postMessage({ id, version, ...request });
        });
    }

    /**
     * Saves a password, in an item if there is one, otherwise as a new one of an account. `mayLose` says that you know that the password
     * before is not kept.
     * @param {{ origin: string, account: string, item: OfferedItem | null, password: string, mayLose: boolean }} what
     * @param {(place: string) => void} waiting
     */
    store({ origin, account, item, password, mayLose }, waiting) {
        if (!item) return this.ask({ request: "save", origin, account, password }, waiting);
        const loss = mayLose ? { version: versionToLose, mayLose } : {};
        return this.ask({ request: "replace", origin, item: item.item, password, ...loss }, waiting);
    }

    #connect() {
        const port = chrome.runtime.connectNative(name);
        this.#port = port;
        port.onMessage.addListener((message) => this.#take(message));
        port.onDisconnect.addListener((ended) => {
            const why = ended.error?.message ?? chrome.runtime.lastError?.message ?? "it has ended";
            if (this.#port === port) this.#port = null;
            this.#fail(new HostError(`Vauban cannot be reached (${why}). Run: vauban enable browser`, false));
        });
        return port;
    }

    /** @param {any} message */
    #take(message) {
        const pending = this.#pending.get(message.id);
        if (message.error !== undefined && message.id === undefined) return this.#fail(new HostError(message.error, false));
        if (!pending) return;
        if (message.waiting !== undefined) return pending.waiting(message.waiting);
        this.#pending.delete(message.id);
        if (message.error !== undefined) pending.failed(new HostError(message.error, message.locked === true));
        else pending.done(message);
        this.#end();
    }

    /** @param {HostError} error */
    #fail(error) {
        const all = [...this.#pending.values()];
        this.#pending.clear();
        for (const pending of all) pending.failed(error);
    }

    #end() {
        if (this.#users > 0 || this.#pending.size > 0) return;
        this.#port?.disconnect();
        this.#port = null;
    }
}
