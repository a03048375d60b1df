// Says which fields of a page you can see. It runs where page.js runs, which uses it.

globalThis.vaubanSight = (() => {
    const sizeMin = 10;
    const opacityMin = 0.5;
    /** The middles of the quarters of a field, as parts of its width and height. */
    const quarters = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
    /** Whatever the page says of scrolling. TypeScript does not know this word yet. */
    const instant = /** @type {ScrollBehavior} */ (/** @type {string} */ ("instant"));

    /** @param {Element} part */
    function around(part) {
        // Around the root of a document stands the frame that shows it.
        return part.parentElement ?? part.ownerDocument.defaultView?.frameElement ?? null;
    }

    /**
     * Whether nothing is over the field, where that is looked at: in its middle, or, where its label is over that, in one of its quarters.
     * @param {HTMLInputElement} field
     */
    function isUncovered(field) {
        const { left, top, width, height } = field.getBoundingClientRect();
        /** @param {number | undefined} x @param {number | undefined} y */
        const at = (x = 0, y = 0) => document.elementFromPoint(left + width * x, top + height * y);
        const middle = at(0.5, 0.5);
        if (middle === field) return true;
        return middle !== null && [...field.labels ?? []].some((label) => label.contains(middle))
            && quarters.some(([x, y]) => at(x, y) === field);
    }

    /** @type {FieldSight} */
    const sight = {
        isVisible(field, before) {
            if (field.disabled || field.readOnly) return false;
            if (!field.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
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
            return place.width >= sizeMin && place.height >= sizeMin && isUncovered(field);
        },
        isShown(field) {
            const { width, height } = field.getBoundingClientRect();
            return width > 0 && height > 0 && field.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        },
        scrollBack(before) {
            for (const [part, { left, top }] of before) part.scrollTo({ left, top, behavior: instant });
        },
    };
    return sight;
})();
