/* Going about: back after a jump, go to a per cent, character, line or paragraph, the map at the side, and the place
   where one left this text. */
LBPReader.part(reader => {
  "use strict";
  const { $, fill, framed, number } = LBPReader.kit;
  const { root, holder, words } = reader;
  const MOST_BACK = 50;
  const SAVE_AFTER = 1500;

  /* ---- back ----------------------------------------------------------------------------------------- */
  const stack = [];
  const back = reader.part("back");
  let why = "";
  const tellBack = () => { back.disabled = !stack.length; };
  /* Stepping on in one search, or dragging on the map, is one going away. */
  reader.when("before-jump", reason => {
    if (reason && reason === why) return;
    why = reason;
    const unit = reader.topLine();
    if (stack.at(-1) !== unit) stack.push(unit);
    if (stack.length > MOST_BACK) stack.shift();
    tellBack();
  });
  reader.deeds["go-back"] = () => {
    const unit = stack.pop();
    why = "";
    tellBack();
    if (unit === undefined) return;
    reader.show(unit, unit + 1, 0);
    reader.say(words.wordBack);
  };

  /* ---- go to ----------------------------------------------------------------------------------------- */
  const form = reader.part("goto");
  const field = $("input", form);
  const fault = reader.part("goto-fault");
  /* Half and full width forms; a unit, or a sentence that says what is wrong. */
  const placeOf = typed => {
    const asked = typed.normalize("NFKC").trim().replace(/[,\s_']/g, "");
    const match = /^(?:([l¶p第#])?(\d{1,9})|(\d{1,3}(?:\.\d+)?)%)$/i.exec(asked);
    if (!match) return words.wordGotoForms;
    if (match[3] !== undefined) {
      if (+match[3] > 100) return words.wordGotoForms;
      return reader.units.of(Math.min(+words.chars, Math.round((+words.chars * +match[3]) / 100)));
    }
    const n = +match[2], kind = (match[1] || "").toLowerCase();
    if (kind === "l") return nth(reader.lines(), n, words.wordGotoLines);
    if (kind === "¶" || kind === "p") return nth(reader.paragraphs(), n, words.wordGotoParagraphs);
    return n > +words.chars ? fill(words.wordGotoChars, { n: number(+words.chars) }) : reader.units.of(n);
  };
  const nth = (starts, n, sentence) => (n >= 1 && n <= starts.length ? starts[n - 1] : fill(sentence, { n: number(starts.length) }));
  let fading = 0;
  const close = () => { form.hidden = true; holder.focus({ preventScroll: true }); };
  reader.deeds.goto = () => {
    form.hidden = !form.hidden;
    fault.textContent = "";
    if (!form.hidden) { field.focus(); field.select(); }
  };
  form.addEventListener("submit", async event => {
    event.preventDefault();
    await reader.ready;
    const place = placeOf(field.value);
    if (typeof place === "string") { fault.textContent = place; field.setAttribute("aria-invalid", "true"); return; }
    close();
    const unit = Math.min(place, Math.max(0, reader.text.length - 1));
    reader.jump(unit, unit + 1);
    reader.paint("place", [[unit, lineEnd(unit)]]);
    clearTimeout(fading);
    fading = setTimeout(() => reader.paint("place", []), 2500);
  });
  /* The place is shown for a moment: to the line's end, at most some words. */
  const lineEnd = unit => {
    const end = reader.text.indexOf("\n", unit);
    return Math.max(unit + 1, Math.min(end < 0 ? reader.text.length : end, unit + 40));
  };
  field.addEventListener("input", () => { fault.textContent = ""; field.removeAttribute("aria-invalid"); });
  form.addEventListener("keydown", event => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
  });
  /* "g" too, on pages where it does not already mean the next item. */
  addEventListener("keydown", event => {
    if (event.key !== "g" || event.defaultPrevented || event.repeat || !root.isConnected || document.documentElement.dataset.shortcuts === "off") return;
    if (!window.LBP || LBP.typing(event) || document.querySelector('[data-key="g"]')) return;
    event.preventDefault();
    reader.deeds.goto();
  });

  /* ---- the map ----------------------------------------------------------------------------------------- */
  const map = $(".map", root);
  const view = $(".v", map);
  const lane = (x, wide, places) => [...new Set(Array.from(places, at => Math.round((500 * at) / (reader.text.length || 1)) * 2))].map(y => `M${x} ${y}h${wide}v4h-${wide}z`).join("");
  const draw = framed(() => {
    const mine = reader.spread(reader.kind)?.map(([start]) => start) || reader.marks.map(mark => mark.start);
    $(".e", map).setAttribute("d", reader.kind === "evidence" ? lane(3, 6, mine) : "");
    $(".f", map).setAttribute("d", reader.kind === "finding" ? lane(3, 6, mine) : "");
    $(".h", map).setAttribute("d", lane(10, 5, reader.hits || []));
    $(".o", map).setAttribute("d", lane(0, 2, (reader.headings || []).filter(({ level }) => level < 3).map(({ start }) => start)));
  });
  for (const event of ["marks", "hits", "headings", "ready"]) reader.when(event, draw);
  reader.when("scroll", ({ start, end }) => {
    const size = reader.text.length || 1;
    view.setAttribute("y", ((1000 * start) / size).toFixed(1));
    view.setAttribute("height", Math.max(6, (1000 * (end - start)) / size).toFixed(1));
  });
  let pointed = 0;
  const follow = framed(() => {
    const box = map.getBoundingClientRect();
    const share = Math.min(0.9999, Math.max(0, (pointed - box.top) / box.height));
    const at = Math.floor(share * reader.text.length);
    reader.jump(at, at + 1, { why: "map" });
  });
  map.addEventListener("pointerdown", event => { why = ""; map.setPointerCapture(event.pointerId); pointed = event.clientY; follow(); });
  map.addEventListener("pointermove", event => { if (map.hasPointerCapture(event.pointerId)) { pointed = event.clientY; follow(); } });

  /* ---- where one left it --------------------------------------------------------------------------------- */
  let saved = null, moved = false, timer = 0;
  const token = () => { try { return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || ""; } catch { return ""; } };
  const save = () => {
    clearTimeout(timer);
    if (!moved || !reader.seen || saved === null) return;
    const position = reader.units.points(reader.topLine());
    if (position === saved) return;
    saved = position;
    /* A bookmark that did not arrive is tried again at the next move. */
    fetch(words.positionUrl, {
      method: "POST", keepalive: true, credentials: "same-origin",
      headers: { "X-CSRFToken": token(), Accept: "application/json" }, body: new URLSearchParams({ position }),
    }).catch(() => { saved = -1; });
  };
  /* Only who moves leaves a place: opening a text, or a page that settles, writes nothing. */
  const moving = () => { moved = true; why = why === "map" ? why : ""; };
  for (const name of ["wheel", "touchmove", "pointerdown"]) holder.addEventListener(name, moving, { passive: true });
  holder.addEventListener("keydown", event => { if (/^(Arrow|Page|Home|End| )/.test(event.key)) moving(); });
  reader.when("before-jump", () => { moved = true; });
  reader.when("scroll", () => {
    if (!moved) return;
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER);
    returned.hidden = true;
  });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(); });

  const returned = reader.part("returned");
  const asked = fetch(words.positionUrl, { credentials: "same-origin", headers: { Accept: "application/json" } })
    .then(answer => (answer.ok && !answer.redirected ? answer.json() : { position: 0 })).then(({ position }) => +position || 0, () => 0);
  reader.when("ready", async () => {
    saved = await asked;
    if (!saved || reader.jumped || moved || location.hash.length > 1 || $('[data-mark][aria-current="true"]')) return;
    const unit = reader.units.of(saved);
    if (unit >= reader.text.length) return;
    reader.show(unit, unit + 1, 0);
    reader.part("returned-at").textContent = fill(words.wordReturned, { n: Math.floor((100 * saved) / (+words.chars || 1)) });
    returned.hidden = false;
  });
  reader.deeds.begin = () => { returned.hidden = true; reader.jump(0, 1, { down: 0 }); };
});
