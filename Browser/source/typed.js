// Notes what you typed into fields that you saw, and which fields hid what is in them, as long as the page has them. It tells nobody:
// submit.js and page.js ask it. It runs in each page with https and in its frames of the same origin; without that access in those for
// which you open the popup, and from then on.

// The popup may be opened many times on a page. A part of the page that has this name is not meant.
if (!Object.hasOwn(globalThis, "vaubanTyped")) globalThis.vaubanTyped = (() => {
    /** @type {WeakMap<EventTarget, string>} */
    const typed = new WeakMap();
    /**
     * Fields that hid what is in them. Pages change their type to show you the password.
     * @type {WeakSet<Node>}
     */
    const hidden = new WeakSet();
    /** @param {MutationRecord[]} changes */
    const note = (changes) => {
        for (const { target, oldValue } of changes) if (oldValue?.toLowerCase() === "password") hidden.add(target);
    };
    const observer = new MutationObserver(note);
    /** @type {(field: HTMLInputElement) => void} */
    let changed = () => {};
    /** @type {TypedFields} */
    const fields = {
        isTyped: (field) => field.value !== "" && typed.get(field) === field.value,
        wasPassword(field) {
            // Also of what the page has changed just now, and sends at once.
            note(observer.takeRecords());
            return hidden.has(field);
        },
        onChange(listener) {
            changed = listener;
        },
    };
    // Of what is typed in a frame of another site, or within another site, nothing is noticed.
    if (!vaubanPage.isOf(location.origin)) return fields;
    observer.observe(document, { subtree: true, attributeFilter: ["type"], attributeOldValue: true });

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
    // What a script puts into a field makes no such event, or one that follows on nothing that you did there.
    addEventListener("input", (event) => {
        const field = event.target;
        if (!event.isTrusted || !(field instanceof HTMLInputElement) || !["password", "text", "email", "tel"].includes(field.type)) return;
        if (touched === field && vaubanSight.isVisible(field, null)) typed.set(field, field.value);
        else typed.delete(field);
        // A composition makes many changes.
        if (!(event instanceof InputEvent) || !event.isComposing) touched = null;
        changed(field);
    }, true);
    return fields;
})();
