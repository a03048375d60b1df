// Notices that you sent a form with a password that you typed, and tells background.js, which may offer to save it. It runs in the page
// itself and in frames of its origin, in a world that the page's scripts cannot enter, changes nothing there, and gets no answer.

(() => {
    // Of what is typed in a frame of another site, or within another site, nothing is noticed.
    if (!vaubanPage.isOf(location.origin)) return;
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

    // You may be about to send what you typed a while ago; meanwhile the browser may have ended background.js.
    for (const name of ["keydown", "pointerdown"]) {
        addEventListener(name, (event) => {
            if (event.isTrusted && hasTyped) connection();
        }, true);
    }

    const { isTyped } = vaubanTyped;
    vaubanTyped.onChange((field) => {
        if (watched?.typed.includes(field)) forget();
        if (!isTyped(field)) return;
        hasTyped = true;
        connection();
    });

    addEventListener("submit", (event) => {
        // A script can send a form, too; then you did nothing in the page just before.
        if (!event.isTrusted || !navigator.userActivation.isActive || !(event.target instanceof HTMLFormElement)) return;
        const form = event.target;
        // What is sent now, and not what was there at the key or click before.
        forget();
        const sent = vaubanPage.sent([...document.querySelectorAll("input")].filter((field) => field.form === form));
        if (sent) connection()?.postMessage(sent);
    }, true);

    // Pages also send what you typed by a script, without a form, after you pressed a button or Enter. Whether they do cannot be seen; that
    // the field goes, or the page, tells it.

    const buttons = "button:not([type=reset]), input[type=submit], input[type=button], input[type=image], [role=button]";
    const secondsMax = 30;
    const lookMilliseconds = 250;
    /**
     * What you typed when you pressed a button or Enter, until its field goes.
     * @type {{ sent: SentForm, typed: HTMLInputElement[], field: HTMLInputElement, timer: number } | null}
     */
    let watched = null;
    const observer = new MutationObserver(() => {
        if (watched && !watched.field.isConnected) confirm();
    });

    function forget() {
        if (!watched) return;
        clearInterval(watched.timer);
        observer.disconnect();
        watched = null;
    }

    /** Tells what is watched, unless a script has put something else into a field since. */
    function confirm() {
        const { sent, typed } = watched ?? {};
        forget();
        if (sent && typed?.every((field) => field.value === "" || isTyped(field))) port?.postMessage(sent);
    }

    /**
     * Watches what you typed around a button or field.
     * @param {Element} part
     */
    function press(part) {
        forget();
        const all = [...document.querySelectorAll("input")];
        const form = part instanceof HTMLButtonElement || part instanceof HTMLInputElement ? part.form : null;
        if (form) return watch(all.filter((field) => field.form === form));
        // Without a form: the nearest fields with an account and a password, or otherwise the nearest with one of them.
        /** @type {HTMLInputElement[]} */
        let nearest = [];
        let before = 0;
        for (let group = part.parentElement; group; group = group.parentElement) {
            const around = group;
            const fields = all.filter((field) => around.contains(field));
            if (fields.length === before || !fields.some(isTyped)) continue;
            before = fields.length;
            const sent = vaubanPage.sent(fields);
            if (sent?.account && sent.password) return watch(fields);
            if (sent && nearest.length === 0) nearest = fields;
        }
        watch(nearest);
    }

    /** @param {HTMLInputElement[]} fields */
    function watch(fields) {
        const sent = vaubanPage.sent(fields);
        const typed = fields.filter(isTyped);
        const field = typed.find((field) => vaubanPage.isPassword(field)) ?? typed[0];
        if (!sent || !field) return;
        connection();
        const end = Date.now() + secondsMax * 1000;
        const timer = setInterval(() => {
            if (!vaubanSight.isShown(field)) confirm();
            else if (Date.now() > end) forget();
        }, lookMilliseconds);
        watched = { sent, typed, field, timer };
        observer.observe(document, { childList: true, subtree: true });
    }

    addEventListener("click", (event) => {
        if (!event.isTrusted || !hasTyped || !(event.target instanceof Element)) return;
        const button = event.target.closest(buttons);
        if (button) press(button);
    }, true);
    addEventListener("keydown", (event) => {
        if (!event.isTrusted || event.key !== "Enter" || event.isComposing) return;
        if (event.target instanceof HTMLInputElement && isTyped(event.target)) press(event.target);
    }, true);
    addEventListener("pagehide", (event) => {
        if (event.isTrusted && watched) confirm();
    }, true);
})();
