// Finds and fills fields. It runs in a world that the page's scripts cannot enter: in the frames of the page's own origin after you opened
// Vauban's popup, and in each page with https for submit.js, where it waits to be called. It decides nothing about items: the host does.

globalThis.vaubanPage = (() => {
    const sizeMin = 10;
    const opacityMin = 0.5;
    /** A page with more is no form, and must not keep the browser busy. */
    const fieldsMax = 300;
    /** Whatever the page says of scrolling. TypeScript does not know this word yet. */
    const instant = /** @type {ScrollBehavior} */ (/** @type {string} */ ("instant"));

    /**
     * Whether this frame and each one around it are of this origin.
     * @param {string} origin
     */
    function isOf(origin) {
        if (location.protocol !== "https:" || window.origin !== origin) return false;
        try {
            for (let frame = /** @type {Window} */ (window); ; frame = frame.parent) {
                // Throws for a frame of another origin.
                if (frame.location.origin !== origin) return false;
                if (frame === frame.parent) return true;
            }
        } catch {
            return false;
        }
    }

    /** Fields of other types take neither an account, nor a password, nor a code. */
    const types = ["text", "email", "tel", "number", "password"];

    /**
     * Where the parts of the page that were scrolled stood before.
     * @typedef {Map<Element, { left: number, top: number }>} Offsets
     */

    /** @param {Element} part */
    function around(part) {
        // Around the root of a document stands the frame that shows it.
        return part.parentElement ?? part.ownerDocument.defaultView?.frameElement ?? null;
    }

    /** @param {Offsets} before */
    function scrollBack(before) {
        for (const [part, { left, top }] of before) part.scrollTo({ left, top, behavior: instant });
    }

    /**
     * Whether you can see the field: its size, its place, nothing over it, and nothing that makes it transparent. A field outside of the
     * window is none that you see, unless it can be scrolled there: `before` then has what to undo with `scrollBack`.
     * @param {HTMLInputElement} field @param {Offsets | null} before
     */
    function isVisible(field, before) {
        if (field.disabled || field.readOnly || !field.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
        let opacity = 1;
        let part = /** @type {Element | null} */ (field);
        while (part) {
            opacity *= Number(getComputedStyle(part).opacity);
            part = around(part);
        }
        if (opacity < opacityMin) return false;
        let place = field.getBoundingClientRect();
        if (before && (place.bottom < 0 || place.right < 0 || place.top > innerHeight || place.left > innerWidth)) {
            for (part = field; part; part = around(part)) {
                if (!before.has(part)) before.set(part, { left: part.scrollLeft, top: part.scrollTop });
            }
            field.scrollIntoView({ block: "center", inline: "center", behavior: instant });
            place = field.getBoundingClientRect();
        }
        if (place.width < sizeMin || place.height < sizeMin) return false;
        const top = document.elementFromPoint(place.left + place.width / 2, place.top + place.height / 2);
        return top !== null && (top === field || field.labels !== null && [...field.labels].some((label) => label.contains(top)));
    }

    /** @param {HTMLInputElement} field @param {string} token */
    function says(field, token) {
        return (field.getAttribute("autocomplete") ?? "").toLowerCase().split(/\s+/).includes(token);
    }

    /** @param {HTMLInputElement} field */
    function isCode(field) {
        if (!["text", "number", "tel", "password"].includes(field.type)) return false;
        if (says(field, "one-time-code")) return true;
        const names = `${field.name} ${field.id} ${field.placeholder} ${field.getAttribute("aria-label") ?? ""}`;
        return /(^|[^a-z])(otp|totp|2fa|mfa)([^a-z]|$)|one.?time|(verification|security|auth\w*).?code/i.test(names);
    }

    /**
     * The fields of the form that has the focus, or of the first one with a password. The page stays where you scrolled it: what is filled
     * comes into sight with the focus.
     */
    function form() {
        const before = /** @type {Offsets} */ (new Map());
        const candidates = [...document.querySelectorAll("input")].filter((field) => types.includes(field.type)).slice(0, fieldsMax);
        const all = candidates.filter((field) => isVisible(field, before));
        scrollBack(before);
        const passwords = all.filter((field) => field.type === "password" && !isCode(field));
        const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement : null;
        const chosen = (focused && all.includes(focused) ? focused : passwords[0])?.form ?? null;
        const own = chosen ? all.filter((field) => field.form === chosen) : all;
        return { ...parts(own), code: all.find(isCode) ?? null };
    }

    /**
     * What the fields of one form are for.
     * @param {HTMLInputElement[]} own
     */
    function parts(own) {
        const passwords = own.filter((field) => field.type === "password" && !isCode(field));
        const renewed = newOnes(passwords);
        return { account: accountField(own, passwords[0]), current: passwords.filter((field) => !renewed.includes(field)), renewed };
    }

    /**
     * The fields for a new password: as they say, or by their number.
     * @param {HTMLInputElement[]} passwords
     */
    function newOnes(passwords) {
        const named = passwords.filter((field) => says(field, "new-password"));
        if (named.length > 0) return named;
        const unnamed = passwords.filter((field) => !says(field, "current-password"));
        if (unnamed.length < passwords.length) return unnamed;
        return passwords.length === 2 ? passwords : passwords.slice(1, 3);
    }

    /** @param {HTMLInputElement[]} fields @param {HTMLInputElement | undefined} password */
    function accountField(fields, password) {
        const named = fields.find((field) => says(field, "username")) ?? fields.find((field) => says(field, "email"));
        if (named) return named;
        const texts = fields.filter((field) => ["text", "email", "tel"].includes(field.type) && !isCode(field));
        if (!password) {
            const words = /user|login|account/i;
            return texts.find((field) => field.type === "email" || words.test(`${field.name} ${field.id}`)) ?? null;
        }
        return texts.filter((field) => field.compareDocumentPosition(password) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1) ?? null;
    }

    /**
     * As if you had typed it.
     * @param {HTMLInputElement} field @param {string} text
     */
    function put(field, text) {
        field.focus();
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
    }

    /** @param {number} length */
    function limit(length) {
        return length > 0 ? length : null;
    }

    /** @type {PageFields} */
    const fields = {
        inspect(origin) {
            if (!isOf(origin)) return null;
            const { account, current, renewed, code } = form();
            const first = renewed[0];
            const written = renewed.map((field) => field.getAttribute("passwordrules") ?? "").find((text) => text !== "") ?? "";
            const rules = written.replace(/\s+/g, " ").slice(0, 4000);
            return {
                login: account !== null || current.length > 0,
                password: current.length > 0,
                renewal: first ? { rules, minlength: limit(first.minLength), maxlength: limit(first.maxLength) } : null,
                code: code !== null,
                account: account?.value ?? "",
                typed: [...renewed, ...current].some((field) => field.value !== ""),
            };
        },
        fill(origin, account, password) {
            if (!isOf(origin)) return false;
            const found = form();
            const field = found.current[0];
            if (found.account && found.account.value !== account) put(found.account, account);
            if (password === null) return found.account !== null;
            if (!field || field.type !== "password") return false;
            put(field, password);
            return true;
        },
        renew(origin, password) {
            if (!isOf(origin)) return false;
            const fields = form().renewed.filter((field) => field.type === "password");
            for (const field of fields) put(field, password);
            return fields.length > 0;
        },
        code(origin, code) {
            if (!isOf(origin)) return false;
            const field = form().code;
            if (field) put(field, code);
            return field !== null;
        },
        read(origin) {
            if (!isOf(origin)) return null;
            const { account, current, renewed } = form();
            const password = [...renewed, ...current].map((field) => field.value).find((text) => text !== "");
            return password === undefined ? null : { account: account?.value ?? "", password };
        },
        isOf,
        isSeen(field) {
            return isVisible(field, null);
        },
        isShown(field) {
            const { width, height } = field.getBoundingClientRect();
            return width > 0 && height > 0 && field.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        },
        sent(all, isTyped) {
            const { account, current, renewed } = parts(all.slice(0, fieldsMax).filter((field) =>
                isTyped(field) || (field.type !== "password" && isVisible(field, null))));
            const [password, ...others] = (renewed.length > 0 ? renewed : current).map((field) => field.value);
            if (others.some((other) => other !== password)) return null;
            if (!account?.value && !password) return null;
            return { account: account?.value ?? "", password: password ?? "", isNew: renewed.length > 0 };
        },
    };
    return fields;
})();
