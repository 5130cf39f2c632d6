/* What is drawn beside the text of the sections in view: numbers of lines or paragraphs in the margin, and bars where
   characters stand that one cannot see. Empty elements with generated content, placed behind the text node: nothing
   that can be selected, copied or found. Also: a section that ends inside a line ends where that line wraps. */
LBPReader.part(reader => {
  "use strict";
  const { below, element, fill, framed, number } = LBPReader.kit;
  const MOST = 400;
  const LONG_LINE = 120;
  const TAIL = 1500;
  const { root, holder } = reader;

  /* ---- lines and paragraphs: their first units, counted when first asked for -------------- */
  let counted = null;
  const count = () => {
    if (counted?.text === reader.text) return counted;
    const { text } = reader;
    const lines = [0], paragraphs = [];
    const blank = /\n[ \t\u3000]*\n/.test(text);
    let open = false;
    for (let at = 0; ;) {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      const full = stop > at && (stop - at > 200 || /\S/.test(text.slice(at, stop)));
      if (full && (!open || !blank)) paragraphs.push(at);
      open = full;
      if (end < 0) break;
      at = end + 1;
      if (at < text.length) lines.push(at);
    }
    counted = { text, lines: Uint32Array.from(lines), paragraphs: Uint32Array.from(paragraphs) };
    return counted;
  };
  reader.lines = () => count().lines;
  reader.paragraphs = () => count().paragraphs;
  reader.lineOf = unit => below(count().lines, unit + 1);
  reader.paragraphOf = unit => below(count().paragraphs, unit + 1);

  /* ---- which sections are in view ----------------------------------------------------------- */
  const bySection = new Map();
  const near = new Set();
  /* One section a frame, so that scrolling never waits for margins. */
  const draw = framed(() => {
    for (const section of near) if (!section.drawn) { decorate(section); draw(); return; }
  });
  const watched = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) {
      const section = bySection.get(target);
      if (isIntersecting) { near.add(section); sized.observe(target); section.drawn = false; }
      else if (near.delete(section)) { sized.unobserve(target); strip(section); }
    }
    draw();
  }, { root: holder, rootMargin: "300px" });
  const sized = new ResizeObserver(entries => {
    for (const { target, contentRect } of entries) {
      const section = bySection.get(target);
      if (section.width !== contentRect.width) { section.width = contentRect.width; section.fitted = false; }
      section.drawn = false;
    }
    draw();
  });
  reader.when("section", section => {
    if (bySection.has(section.el)) return;
    bySection.set(section.el, section);
    watched.observe(section.el);
  });
  const again = () => { for (const section of near) { section.drawn = false; section.fitted = false; } draw(); };
  reader.when("look", again);
  reader.when("ready", again);

  const strip = section => { section.beside?.remove(); section.beside = null; };
  const decorate = section => {
    section.drawn = true;
    if (!section.fitted) fit(section);
    const top = section.el.getBoundingClientRect();
    const made = [...numbers(section, top), ...signs(section, top)];
    strip(section);
    if (made.length) section.el.append(section.beside = element("i", {}, ...made));
  };
  const boxOf = (section, offset) => {
    const range = document.createRange();
    range.setStart(section.node, offset);
    range.setEnd(section.node, Math.min(offset + 1, section.node.length));
    return range.getClientRects()[0];
  };

  /* ---- numbers ------------------------------------------------------------------------------- */
  const numbers = (section, box) => {
    const kind = root.dataset.lookNumbers;
    if (kind !== "lines" && kind !== "paragraphs") return [];
    const starts = count()[kind];
    const end = section.at + section.node.length;
    let first = below(starts, section.at);
    const last = below(starts, end);
    /* A text without line ends is numbered by its characters. */
    if (first === last) return [label(section, 0, number(reader.units.points(section.at)), box)];
    const every = kind === "lines" && reader.text.length / starts.length < LONG_LINE ? 5 : 1;
    const step = Math.max(every, Math.ceil((last - first) / MOST / 5) * 5 * (last - first > MOST ? 1 : 0));
    const made = [];
    for (; first < last; first += 1) {
      if (first && (first + 1) % step) continue;
      made.push(label(section, starts[first] - section.at, kind === "lines" ? String(first + 1) : `¶${first + 1}`, box));
    }
    return made.filter(Boolean);
  };
  const label = (section, offset, words, box) => {
    const rect = boxOf(section, offset);
    if (!rect) return null;
    const el = element("i", { className: "ln" });
    el.dataset.n = words;
    el.style.top = `${rect.top - box.top}px`;
    el.style.height = `${rect.height}px`;
    return el;
  };

  /* ---- characters that one cannot see (reader-signs.js finds them) ---------------------------- */
  const signs = (section, box) => {
    if (root.dataset.lookSigns === "off" || !reader.signs) return [];
    const from = below(reader.signs.at, section.at);
    const to = Math.min(from + MOST, below(reader.signs.at, section.at + section.node.length));
    const made = [];
    for (let n = from; n < to; n += 1) {
      const rect = boxOf(section, reader.signs.at[n] - section.at);
      if (!rect) continue;
      const { code, name, short } = reader.signs.nameOf(n);
      const el = element("i", { className: "sign", title: `${code} ${name}` });
      el.dataset.sign = short;
      el.style.left = `${rect.left - box.left}px`;
      el.style.top = `${rect.top - box.top}px`;
      el.style.height = `${rect.height}px`;
      made.push(el);
    }
    return made;
  };

  /* ---- a section that ends inside a line ------------------------------------------------------ */
  /* Its last, short row moves to the next section, so that the line wraps there as it would anyway. */
  const fit = section => {
    section.fitted = true;
    const { node } = section;
    const at = reader.sections.indexOf(section);
    const next = reader.sections[at + 1];
    if (!next || !node.length || node.data.endsWith("\n") || !document.getSelection().isCollapsed) return;
    const last = boxOf(section, node.length - 1);
    if (!last) return;
    let low = Math.max(0, node.length - TAIL), high = node.length - 1;
    if ((boxOf(section, low)?.top ?? last.top) > last.top - 2) return;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((boxOf(section, middle)?.top ?? last.top) > last.top - 2) high = middle; else low = middle + 1;
    }
    if (low <= 0) return;
    const tail = node.data.slice(low);
    node.deleteData(low, tail.length);
    next.node.insertData(0, tail);
    next.at = next.el.dataset.at = section.at + low;
    reader.starts[at + 1] = next.at;
    next.drawn = next.fitted = false;
    section.el.classList.toggle("chunk--on", !node.data.includes("\n"));
    repaint();
    draw();
  };
  const repaint = framed(() => reader.repaint());

  reader.placeWords = unit => fill(reader.words.wordLine, { line: number(reader.lineOf(unit)), paragraph: number(reader.paragraphOf(unit)) });
});
