/* Selected text: its place in code points, to copy with it and to cite; and the settings of the look.
   A page that cites listens for "reader:cite" {start, end, text} on the reader. */
LBPReader.part(reader => {
  "use strict";
  const { $$, element, fill, number } = LBPReader.kit;
  const { root, holder, words } = reader;
  const bar = reader.part("cite");
  let cited = null, withPlace = false;

  /* ---- from the document tree to units ------------------------------------------------------------------ */
  const sectionOf = new Map();
  const known = el => {
    if (sectionOf.size !== reader.sections.length) for (const section of reader.sections) sectionOf.set(section.el, section);
    return sectionOf.get(el);
  };
  const unitAt = (container, offset) => {
    if (container === holder) {
      for (let child = holder.childNodes[offset]; child; child = child.nextSibling) if (known(child)) return known(child).at;
      return reader.text.length;
    }
    const el = (container.nodeType === Node.ELEMENT_NODE ? container : container.parentElement)?.closest(".chunk");
    const section = el && known(el);
    if (!section) return holder.compareDocumentPosition(container) & Node.DOCUMENT_POSITION_PRECEDING ? 0 : reader.text.length;
    if (container === section.node) return section.at + offset;
    return container === el && offset === 0 ? section.at : section.at + section.node.length;
  };
  const spanOf = () => {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(holder)) return null;
    const start = unitAt(range.startContainer, range.startOffset), end = unitAt(range.endContainer, range.endOffset);
    return end > start ? { start, end } : null;
  };
  const isOurs = () => {
    const { anchorNode, focusNode } = document.getSelection();
    return holder.contains(anchorNode) && holder.contains(focusNode);
  };
  /* { start, end, text } in code points, half-open, as Python counts; null where nothing is selected. */
  reader.selection = () => {
    const span = spanOf();
    if (!span) return null;
    const text = reader.text.slice(span.start, span.end);
    return { start: reader.units.points(span.start), end: reader.units.points(span.end), text };
  };

  /* ---- the bar --------------------------------------------------------------------------------------------- */
  const show = () => {
    const span = isOurs() ? spanOf() : null;
    cited = span ? reader.selection() : null;
    bar.hidden = !cited;
    if (!cited) return;
    reader.part("cite-range").textContent = `${number(cited.start)}–${number(cited.end)}`;
    reader.part("cite-length").textContent = fill(words[cited.end - cited.start === 1 ? "wordLetter" : "wordLetters"], { n: number(cited.end - cited.start) });
    reader.part("cite-line").textContent = reader.placeWords(span.start);
    root.dispatchEvent(new CustomEvent("reader:cite", { bubbles: true, detail: cited }));
  };
  let timer = 0;
  document.addEventListener("selectionchange", () => { clearTimeout(timer); timer = setTimeout(show, 120); });
  reader.deeds["cite-copy"] = () => {
    withPlace = true;
    const done = document.execCommand("copy");  /* works without a secure address, which navigator.clipboard does not */
    withPlace = false;
    reader.say(done ? words.wordCopied : words.wordNotCopied);
    if (done) window.LBP?.toast(words.wordCopied);
  };
  reader.deeds["cite-close"] = () => { document.getSelection().removeAllRanges(); bar.hidden = true; };
  /* What is copied is the text itself, also across sections. */
  document.addEventListener("copy", event => {
    const chosen = root.isConnected && isOurs() ? reader.selection() : null;
    if (!chosen || !event.clipboardData) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", withPlace ? `${chosen.text} [${chosen.start}:${chosen.end}]` : chosen.text);
  });

  /* ---- Esc in the text: what lies over it closes, from the top -------------------------------------------- */
  holder.addEventListener("keydown", event => {
    /* All of it is all of the text, not of the page. */
    if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      document.getSelection().selectAllChildren(holder);
    }
    if (event.key !== "Escape") return;
    if (cited) reader.deeds["cite-close"]();
    else if (reader.closeOver()) return;
    else if (reader.isFinding()) reader.endFind();
  });

  /* ---- settings ------------------------------------------------------------------------------------------- */
  const settings = reader.part("settings");
  const opener = reader.part("settings-button");
  const { SIZES, read, write, apply } = LBPReaderLook;
  const choose = (name, value) => reader.keepPlace(() => apply(root, write(name, value)));
  const sized = () => parseFloat(getComputedStyle(reader.first).fontSize) / parseFloat(getComputedStyle(document.documentElement).fontSize);
  const resize = by => {
    const now = sized();
    const nearest = SIZES.reduce((best, size, n) => (Math.abs(size - now) < Math.abs(SIZES[best] - now) ? n : best), 0);
    choose("size", SIZES[Math.min(SIZES.length - 1, Math.max(0, nearest + by))]);
    tellSize();
  };
  const tellSize = () => { reader.part("size").textContent = `${Math.round(sized() * 16)}`; };
  Object.assign(reader.deeds, { smaller: () => resize(-1), larger: () => resize(1) });
  settings.addEventListener("change", event => {
    const { name, value, type, checked } = event.target;
    if (name.startsWith("reader-")) choose(name.slice(7), type === "checkbox" ? (checked ? "on" : "off") : value);
  });
  settings.addEventListener("toggle", event => {
    opener.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState !== "open") return;
    const look = read();
    for (const input of $$("input", settings)) {
      const value = look[input.name.slice(7)];
      if (value) input.checked = input.type === "checkbox" ? value === "on" : input.value === value;
    }
    tellSize();
    const box = opener.getBoundingClientRect();
    settings.style.top = `${box.bottom + 4}px`;
    settings.style.left = `${Math.max(8, Math.min(box.right - settings.offsetWidth, innerWidth - settings.offsetWidth - 8))}px`;
  });
});
