// Notices that you sent a form with a password that you typed, and tells background.js, which may offer to save it. It runs in the page
// itself and in no frame, in a world that the page's scripts cannot enter, changes nothing there, and gets no answer.

(() => {
    /**
     * What you typed into a field that you saw, as long as the page has the field.
     * @type {WeakMap<EventTarget, string>}
     */
    const typed = new WeakMap();
    let hasTyped = false;
    /**
     * The connection to background.js, which the browser may have to start. So it begins when you type, not when the page is about to go.
     * @type {Port | null}
     */
    let port = null;
    function connection() {
        // A page of before an update of the extension has nobody to tell.
        if (port === null && chrome.runtime?.id) {
            port = chrome.runtime.connect({ name: "form" });
            port.onDisconnect.addListener(() => {
                port = null;
            });
        }
        return port;
    }
    // The browser ends the connection of a page that it keeps to show it again, and does not tell.
    addEventListener("pageshow", (event) => {
        if (!event.isTrusted || !event.persisted) return;
        port?.disconnect();
        port = null;
    }, true);

    /** @param {HTMLInputElement} field */
    const isTyped = (field) => field.value !== "" && typed.get(field) === field.value;

    /**
     * Where you pressed a key, pasted or dropped something, until the change that follows on it.
     * @type {EventTarget | null}
     */
    let touched = null;
    for (const name of ["keydown", "paste", "drop", "compositionstart", "compositionend"]) {
        addEventListener(name, (event) => {
            if (event.isTrusted) touched = event.target;
        }, true);
    }
    // You may be about to send what you typed a while ago; meanwhile the browser may have ended background.js.
    for (const name of ["keydown", "pointerdown"]) {
        addEventListener(name, (event) => {
            if (event.isTrusted && hasTyped) connection();
        }, true);
    }

    // What a script puts into a field makes no such event, or one that follows on nothing that you did there.
    addEventListener("input", (event) => {
        const field = event.target;
        if (!event.isTrusted || !(field instanceof HTMLInputElement) || !["password", "text", "email", "tel"].includes(field.type)) return;
        if (touched === field && vaubanPage.isSeen(field)) {
            typed.set(field, field.value);
            hasTyped = true;
            connection();
        } else typed.delete(field);
        // A composition makes many changes.
        if (!(event instanceof InputEvent) || !event.isComposing) touched = null;
    }, true);

    addEventListener("submit", (event) => {
        // A script can send a form, too; then you did nothing in the page just before.
        if (!event.isTrusted || !navigator.userActivation.isActive || !(event.target instanceof HTMLFormElement)) return;
        const sent = vaubanPage.sent(event.target, isTyped);
        if (sent) connection()?.postMessage(sent);
    }, true);
})();
