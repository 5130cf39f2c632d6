/* Editing at the desk: one part of the candidate in its place, saved while one types (LBP.autosave). The fields
   themselves are never replaced, so that the caret, the browser's own undo and a composition of Chinese stay.

   A list (options, answer) is a textarea, one line for each, as it is sent; here it is shown as a field for each line.
   Hints, places in the document and differences come from the server, which alone knows the rules. */
(() => {
  "use strict";
  if (!window.LBP) return;
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const { element, icon, fill } = LBP;
  const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
  const LINE_ENDS = new RegExp(LINE_END, "g");
  const CHECK_AFTER = 300;
  const LONG = 80, WIDE = /[\u2e80-\uffff]/g;
  const composing = event => event.isComposing || event.keyCode === 229;
  const person = document.documentElement.dataset.person || "";
  const saveState = () => $("#save");
  const editors = () => $$("form[data-edit]").filter(form => form.autosaving);
  const unsaved = () => editors().filter(form => form.autosaving.changed());

  /* ---- a list with a field for each line ----------------------------------------------------------------- */
  class Lines {
    constructor(area) {
      this.area = area;
      this.form = area.form;
      this.words = area.form.dataset;
      this.name = area.name === "options" ? this.words.wordOption : this.words.wordElement;
      const label = $(`label[for="${area.id}"]`);
      this.list = element("ol", { className: "lines" });
      this.list.setAttribute("aria-label", label?.textContent.trim() || area.name);
      if (label) label.removeAttribute("for");
      const add = element("button", { type: "button", className: "btn btn--quiet btn--s lines__add" }, icon("plus"), this.words.wordAdd);
      add.lang = document.documentElement.lang;
      add.addEventListener("click", () => this.insert(this.rows().at(-1), "", true));
      area.hidden = true;
      area.after(this.list, add);
      this.read();
      for (const [kind, run] of Object.entries({ input: "typed", keydown: "key", paste: "paste", click: "press", focusin: "enter" })) this.list.addEventListener(kind, event => this[run](event));
      /* Text that is put back comes by the textarea. */
      area.addEventListener("input", event => { if (!event.isOwn && area.value !== this.text()) this.read(); });
    }
    rows() { return [...this.list.children]; }
    field(row) { return $(".input", row); }
    text() { return this.rows().map(row => this.field(row).value.replace(LINE_ENDS, " ").trim()).filter(Boolean).join("\n"); }
    /* The rows that are sent, as the server counts them. */
    filled() { return this.rows().filter(row => this.field(row).value.trim()); }
    read() {
      this.past = [];
      const lines = this.area.value.split(LINE_END).map(line => line.trim()).filter(Boolean);
      /* A summary is read whole while it is edited. */
      this.isLong ||= lines.some(line => line.replace(WIDE, "xx").length > LONG);
      if (this.model && this.isLong !== this.field(this.model).matches("textarea")) this.model = null;
      this.list.replaceChildren(...(lines.length ? lines : [""]).map(line => this.row(line)));
      this.number();
    }
    /* Hundreds of lines are pasted at once: a row is a copy of the first one made. */
    row(value) {
      this.model ||= this.first();
      const made = this.model.cloneNode(true);
      this.field(made).value = value;
      return made;
    }
    first() {
      const deed = (name, glyph, word) => {
        const made = element("button", { type: "button", className: "btn btn--icon btn--quiet btn--s", tabIndex: -1 }, icon(glyph));
        made.dataset.deed = name;
        made.dataset.word = made.title = word;
        made.setAttribute("aria-label", word);
        return made;
      };
      const place = element("button", { type: "button", className: "btn btn--quiet btn--s lines__place", hidden: true, tabIndex: -1 });
      place.dataset.deed = "find";
      const input = this.isLong
        ? element("textarea", { rows: 1, className: "input", spellcheck: false, autocomplete: "off" })
        : element("input", { type: "text", className: "input", spellcheck: false, autocomplete: "off" });
      return element("li", {}, input, place, deed("up", "up", this.words.wordUp), deed("down", "down", this.words.wordDown), deed("remove", "cross", this.words.wordRemove));
    }
    number() {
      this.rows().forEach((row, at) => this.field(row).setAttribute("aria-label", fill(this.name, { n: at + 1 })));
    }
    send() {
      this.area.value = this.text();
      const event = new Event("input", { bubbles: true });
      event.isOwn = true;
      this.area.dispatchEvent(event);
    }
    typed(event) {
      this.area.value = this.text();
      const place = $(".lines__place", event.target.closest("li"));
      if (place) place.hidden = true;
    }
    /* What the browser's own undo does not know: lines that came, went or moved. Each is kept as it was before; what is
       typed since is the browser's to undo first. */
    raw() { return this.rows().map(row => this.field(row).value).join("\n"); }
    mark() {
      this.past.push({ rows: this.rows().map(row => [row, this.field(row).value]), here: this.list.contains(document.activeElement) ? document.activeElement.closest("li") : null });
      if (this.past.length > 100) this.past.shift();
      queueMicrotask(() => { this.settled = this.raw(); });
    }
    undo() {
      const before = this.past.pop();
      if (!before) return;
      for (const [row, value] of before.rows) if (this.field(row).value !== value) this.field(row).value = value;
      /* A line that stays is not touched: with it would go what the browser can undo in it. */
      const rows = before.rows.map(([row]) => row), kept = new Set(rows);
      for (const row of this.rows()) if (!kept.has(row)) row.remove();
      rows.forEach((row, at) => { if (this.list.children[at] !== row) this.list.insertBefore(row, this.list.children[at] || null); });
      this.number();
      const field = this.field(before.here && this.list.contains(before.here) ? before.here : this.list.lastElementChild);
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
      this.settled = this.raw();
      this.send();
      LBP.say(fill(this.words.wordUndone, { n: this.filled().length }));
    }
    undoNext(event) {
      if (!this.past.length) return;
      if (this.raw() === this.settled) { event.preventDefault(); this.undo(); return; }
      const typed = this.raw();
      setTimeout(() => { if (this.raw() === typed) this.undo(); });
    }
    insert(after, value, focus) {
      this.mark();
      const made = this.row(value);
      if (after) after.after(made); else this.list.prepend(made);
      this.number();
      if (focus) this.field(made).focus();
      return made;
    }
    remove(row) {
      const rows = this.rows(), at = rows.indexOf(row);
      const next = rows[at + 1] || rows[at - 1];
      this.mark();
      row.remove();
      if (!next) this.list.append(this.row(""));
      const left = next || this.list.firstElementChild;
      const field = this.field(left);
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
      this.number();
      this.send();
      LBP.say(fill(this.words.wordRemoved, { n: this.filled().length }));
    }
    move(row, by) {
      const rows = this.rows(), at = rows.indexOf(row), to = at + by;
      if (to < 0 || to >= rows.length) return;
      const field = this.field(row);
      const { selectionStart, selectionEnd } = field;
      this.mark();
      if (by < 0) rows[to].before(row); else rows[to].after(row);
      field.focus();
      field.setSelectionRange(selectionStart, selectionEnd);
      row.scrollIntoView({ block: "nearest" });
      this.number();
      this.send();
      LBP.say(fill(this.words.wordAt, { n: to + 1 }));
    }
    step(row, by) {
      const next = this.rows()[this.rows().indexOf(row) + by];
      if (!next) return;
      const field = this.field(next);
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    }
    key(event) {
      const field = event.target;
      const row = field.closest("li");
      if (!row || !field.matches(".input") || composing(event) || field.readOnly) return;
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z") this.undoNext(event);
      if (event.ctrlKey || event.metaKey) return;
      const own = run => { event.preventDefault(); event.stopPropagation(); run(); };
      const last = row === this.list.lastElementChild;
      if (event.key === "Enter" && event.altKey) own(() => this.find(row));
      else if (event.key === "Enter") own(() => { if (field.value.trim() || !last) this.insert(row, "", true); });
      else if (event.altKey && event.key === "ArrowUp") own(() => this.move(row, -1));
      else if (event.altKey && event.key === "ArrowDown") own(() => this.move(row, 1));
      else if (event.altKey && event.key === "Delete") own(() => this.remove(row));
      else if (event.altKey) return;
      else if (event.key === "ArrowUp" && (!this.isLong || !field.selectionEnd)) own(() => this.step(row, -1));
      else if (event.key === "ArrowDown" && (!this.isLong || field.selectionStart === field.value.length)) own(() => this.step(row, 1));
      else if (event.key === "Backspace" && !field.value && this.rows().length > 1) own(() => {
        const before = row.previousElementSibling;
        this.remove(row);
        if (before) this.step(before, 0);
      });
    }
    paste(event) {
      const field = event.target;
      if (!field.matches(".input") || field.readOnly) return;
      const lines = (event.clipboardData?.getData("text/plain") || "").split(LINE_END).map(line => line.trim()).filter(Boolean);
      if (lines.length < 2) return;
      event.preventDefault();
      this.mark();
      /* Lines of their own: after the one the caret is in, or in its place where it is empty or wholly chosen. */
      const here = field.closest("li");
      const made = lines.map(line => this.row(line));
      here.after(...made);
      if (!field.value.slice(0, field.selectionStart).trim() && !field.value.slice(field.selectionEnd).trim()) here.remove();
      this.number();
      this.field(made.at(-1)).focus();
      this.send();
      LBP.say(fill(this.words.wordPasted, { n: lines.length }));
    }
    press(event) {
      const button = event.target.closest("[data-deed]");
      if (!button || button.disabled) return;
      const row = button.closest("li");
      ({ up: () => this.move(row, -1), down: () => this.move(row, 1), remove: () => this.remove(row), find: () => this.find(row) })[button.dataset.deed]();
    }
    /* Only the row one is in has its buttons in the order of the Tab key: from row to row one goes by the arrows. */
    enter(event) {
      const row = event.target.closest("li");
      if (row === this.current) return;
      if (this.current) for (const button of $$("button", this.current)) button.tabIndex = -1;
      this.current = row;
      if (!row) return;
      for (const button of $$("button", row)) button.tabIndex = 0;
      const name = this.field(row).getAttribute("aria-label");
      for (const button of $$("[data-word]", row)) button.setAttribute("aria-label", `${name}: ${button.dataset.word}`);
    }
    find(row) {
      const place = $(".lines__place", row);
      if (place.hidden || !place.dataset.start || !window.LBPReader) return;
      if (!LBPReader.search(this.field(row).value.trim())) LBPReader.jump(+place.dataset.start, +place.dataset.end);
    }
    occurs(places) {
      const rows = this.filled();
      for (const row of this.rows()) $(".lines__place", row).hidden = true;
      for (const found of places) {
        const row = rows[found.line - 1];
        if (!row || this.field(row).value.trim() !== found.text.trim()) continue;
        const place = $(".lines__place", row);
        const n = found.more ? `${found.count}+` : String(found.count);
        const word = !found.count ? this.words.wordNowhere : fill(found.exact ? this.words.wordOccurs : this.words.wordOtherwise, { n });
        place.hidden = false;
        place.dataset.state = !found.count ? "none" : found.exact ? "exact" : "other";
        place.dataset.start = found.start ?? "";
        place.dataset.end = found.end ?? "";
        place.setAttribute("aria-label", word);
        place.title = word;
        place.replaceChildren(icon(found.count ? "search" : "bang"), found.count ? n : "0");
      }
    }
    lock() {
      for (const input of $$(".input", this.list)) input.readOnly = true;
      for (const button of $$("button", this.list)) if (button.dataset.deed !== "find") button.disabled = true;
      this.list.nextElementSibling.disabled = true;
    }
  }

  /* ---- what the server says of the wording ------------------------------------------------------------------ */
  const marked = piece => {
    if (piece.kind === "ins") return element("ins", {}, piece.text);
    if (piece.kind === "del") return element("del", {}, piece.text);
    return document.createTextNode(piece.text);
  };
  const listed = (piece, words) => {
    const row = element("li");
    if (piece.kind === "del") row.className = "out";
    if (piece.kind === "edit") row.append(...piece.pieces.map(marked));
    else if (piece.kind === "moved") {
      const tag = element("span", { className: "tag", lang: document.documentElement.lang }, words.wordMoved);
      row.append(element("ins", { className: "shifted" }, piece.text), " ", tag);
    } else row.append(marked(piece));
    return row;
  };
  const pieces = (name, all, words) =>
    name === "options" || name === "answer"
      ? element("ol", { className: "inline" }, ...all.map(piece => listed(piece, words)))
      : element("p", { className: "said" }, ...all.map(marked));

  let asked = 0, timer = 0, running = null;
  const show = (form, answer) => {
    for (const list of $$("[data-hints]", form)) {
      const own = answer.hints.filter(hint => hint.field === list.dataset.hints);
      const row = hint => {
        const made = element("li", {}, icon("bang"), element("span", {}, hint.text));
        made.dataset.rule = hint.rule;
        return made;
      };
      list.lang = document.documentElement.lang;
      list.replaceChildren(...own.map(row));
    }
    for (const [name, lines] of Object.entries(form.lines)) lines.occurs(answer.occurrences.filter(found => found.field === name));
    const live = $("[data-live]", form);
    const changed = $$("[data-hints]", form).map(list => list.dataset.hints).filter(name => answer.differences[name].some(piece => piece.kind !== "same"));
    live.hidden = !changed.length;
    $("[data-live-pieces]", live).replaceChildren(...changed.map(name => pieces(name, answer.differences[name], form.dataset)));
  };
  /* The newest answer counts, whichever comes last. A hint that did not come is no fault that somebody must hear of. */
  const check = async () => {
    const forms = editors();
    if (!forms.length) return;
    const turn = (asked += 1);
    running?.abort();
    running = new AbortController();
    const body = new FormData();
    for (const form of forms) for (const [name, value] of Object.entries({ ...valuesOf(form), csrfmiddlewaretoken: $("[name=csrfmiddlewaretoken]", form).value })) body.set(name, value);
    try {
      const answer = await fetch(forms[0].dataset.checkUrl, {
        method: "POST", body, signal: running.signal, headers: { Accept: "application/json", "HX-Request": "true" },
      });
      if (!answer.ok || !(answer.headers.get("Content-Type") || "").includes("json")) return;
      const said = await answer.json();
      if (turn === asked) for (const form of editors()) show(form, said);
    } catch { /* the next keystroke asks again */ }
  };
  const checkSoon = () => { clearTimeout(timer); timer = setTimeout(check, CHECK_AFTER); };

  /* ---- what stands around the editor --------------------------------------------------------------------------- */
  const around = async form => {
    const pane = $("#pane");
    const answer = await fetch(form.dataset.aroundUrl, { headers: { Accept: "text/html", "HX-Request": "true" } });
    if (!answer.ok) return;
    const parsed = element("template");
    /* A page of the server's own, in which document and model text is escaped; within a template nothing runs. */
    parsed.innerHTML = await answer.text();
    /* Whoever types keeps the focus. */
    for (const field of $$("[autofocus]", parsed.content)) field.removeAttribute("autofocus");
    if ($("#pane") !== pane || $("#dock form[data-sending]") || $("#dock dialog[open]")) return;
    const dock = $("#dock");
    const step = dock?.dataset.step;
    const ticked = $$('#dock input[name="checks"]:checked').map(box => box.value);
    const held = dock?.contains(document.activeElement) ? document.activeElement.dataset.key : "";
    /* Not the pane itself: for a pane that came anew the desk looks for the next decision. */
    htmx.swap($("#main"), parsed.innerHTML, { swapStyle: "none" });
    if ($("#dock")?.dataset.step === step) {
      for (const value of ticked) { const box = $(`#dock input[name="checks"][value="${CSS.escape(value)}"]`); if (box) box.checked = true; }
      $('#dock input[name="checks"]')?.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (held) $(`#dock [data-key="${CSS.escape(held)}"]`)?.focus();
  };
  const versionIs = version => { for (const input of $$('#pane input[name="version"]')) input.value = version; };
  const saved = (form, answer) => {
    if (answer.version !== undefined) versionIs(answer.version);
    $("[data-problem]", form).replaceChildren();
    if (answer.step === undefined || answer.step === form.dataset.step) return;
    for (const editor of editors()) editor.dataset.step = answer.step;
    if (answer.reopened) {
      $("[data-effect]", form).textContent = answer.reopened;
      LBP.say(answer.reopened);
    }
    around(form);
  };

  const allSaved = form => {
    const status = saveState();
    if (!status) return;
    status.dataset.state = "saved";
    status.replaceChildren(icon("check"), form.dataset.wordNothing);
  };

  /* ---- refusals: nothing is overwritten, nothing is lost --------------------------------------------------------- */
  const valuesOf = form => {
    const names = $$("[data-hints]", form).map(list => list.dataset.hints);
    return Object.fromEntries([...new FormData(form)].filter(([name]) => names.includes(name)));
  };
  const stored = now => Object.fromEntries(Object.entries(now).map(([name, value]) => [name, Array.isArray(value) ? value.join("\n") : value]));
  const put = (form, values) => {
    for (const [name, value] of Object.entries(values)) {
      const field = $(`[name="${CSS.escape(name)}"]`, form);
      if (!field) continue;
      field.value = value;
      form.lines[name]?.read();
    }
  };
  const problemIn = (form, state, ...content) => {
    const note = element("div", { className: "note" }, icon("bang"), element("div", { className: "stack" }, ...content));
    note.dataset.state = state;
    note.setAttribute("role", "alert");
    note.lang = document.documentElement.lang;
    $("[data-problem]", form).replaceChildren(note);
    return note;
  };
  const plain = values => JSON.stringify(Object.entries(values).sort().map(([name, text]) => [name, String(text).replace(/\r\n/g, "\n").trim()]));
  const settled = (form, version) => {
    versionIs(version);
    form.autosaving.settle();
    delete form.dataset.dirty;
    $("[data-problem]", form).replaceChildren();
    allSaved(form);
  };
  const conflict = (form, problem) => {
    const words = form.dataset;
    const { autosaving } = form;
    const theirs = stored(problem.now);
    const shown = Object.entries(problem.differences).filter(([, all]) => all.some(piece => piece.kind !== "same"));
    const compared = shown.map(([name, all]) => pieces(name, all, words));
    /* Refused once more, as leaving the field does: the buttons stay, one of them may just be pressed. */
    const before = $(`[data-conflict="${problem.version}"]`, form);
    if (before) { before.replaceChildren(...compared); return; }
    /* The text of now is what this window itself sent: only the answer was lost. */
    if (form.typed.has(plain(theirs))) { versionIs(problem.version); autosaving.touch(); autosaving.flush(); return; }
    /* The choice was made while this answer was on its way. */
    if (plain(valuesOf(form)) === plain(theirs)) { settled(form, problem.version); return; }
    const go = () => { versionIs(problem.version); autosaving.touch(); };
    const mine = LBP.button(words.wordMine, () => { go(); autosaving.flush(); });
    const take = LBP.button(words.wordTheirs, () => {
      const aside = valuesOf(form);
      put(form, theirs);
      settled(form, problem.version);
      checkSoon();
      around(form);
      const back = () => { put(form, aside); autosaving.touch(); checkSoon(); };
      LBP.toast(words.wordAside, { state: "idle", stays: true, undo: { label: LBP.words.restore, key: "", run: back } });
    });
    const on = LBP.button(words.wordGoOn, () => { versionIs(problem.version); ($("textarea:not([hidden]), .lines .input", form))?.focus(); note.removeAttribute("role"); });
    const difference = element("div", { lang: words.lang }, ...compared);
    difference.dataset.conflict = problem.version;
    difference.setAttribute("translate", "no");
    const note = problemIn(form, "fail", element("b", {}, problem.detail), element("p", {}, words.wordConflict), difference, element("div", { className: "row row--wrap" }, mine, take, on));
  };
  const readOnly = (form, problem) => {
    const words = form.dataset;
    if (form.isLocked) return;
    form.isLocked = true;
    for (const field of $$("textarea, input:not([type=hidden])", form)) field.readOnly = true;
    for (const lines of Object.values(form.lines)) lines.lock();
    for (const button of $$("[data-done]", form)) button.disabled = true;
    const copy = LBP.button(words.wordCopy, () => navigator.clipboard?.writeText(Object.values(valuesOf(form)).join("\n\n")).then(() => LBP.say(words.wordCopied)));
    const again = LBP.button(words.wordClaim, async () => { await LBP.post(words.claimUrl, new FormData()); for (const editor of editors()) delete editor.dataset.dirty; location.reload(); });
    const held = problem.rule === "claim_needed" && problem.held;
    problemIn(form, "warn", element("b", {}, problem.detail || ""), element("p", {}, words.wordReadonly), element("div", { className: "row" }, copy, ...(held ? [] : [again])));
    around(form);
  };
  const refused = (form, problem) => {
    if (problem.rule === "stale_version" && problem.now) { conflict(form, problem); return; }
    if (problem.errors) { $('[aria-invalid="true"]:not([hidden])', form)?.scrollIntoView({ block: "nearest" }); return; }
    readOnly(form, problem);
  };

  /* ---- opening and closing ------------------------------------------------------------------------------------------ */
  const close = async form => {
    await form.autosaving.flush();
    if (form.autosaving.changed()) { LBP.toast(form.dataset.wordUnsaved, { state: "warn" }); return; }
    const section = form.closest("section");
    const { id } = section;
    await htmx.ajax("GET", `${form.dataset.partUrl}?close=1`, { source: section, target: section, swap: "outerHTML" });
    $(`#${id} [data-part-link]`)?.focus();
  };
  const caretToEnd = form => {
    const field = $("textarea:not([hidden]), .lines .input", form);
    if (!field) return;
    field.focus({ preventScroll: true });
    field.setSelectionRange(field.value.length, field.value.length);
    form.closest("section").scrollIntoView({ block: "nearest" });
  };
  /* The part came as it is now, and the rest of the pane is from before somebody else edited: it is fetched whole. */
  const isAhead = form => {
    const around = $('#dock input[name="version"]');
    return Boolean(around) && around.value !== $('input[name="version"]', form).value;
  };
  const renew = form => {
    const at = $("#pane > [name=candidate]").value;
    htmx.ajax("GET", `${location.pathname}?candidate=${at}&edit=${form.dataset.edit}&fresh=1`, { source: $("#main"), target: "#pane", swap: "outerHTML settle:0ms" });
  };
  const arm = form => {
    if (form.lines) return;
    if (isAhead(form)) { renew(form); return; }
    form.lines = Object.fromEntries($$("textarea[data-list]", form).map(area => [area.name, new Lines(area)]));
    form.typed = new Set();
    const remember = () => { if (form.typed.size > 500) form.typed.clear(); form.typed.add(plain(valuesOf(form))); };
    form.addEventListener("submit", event => { event.preventDefault(); event.stopImmediatePropagation(); close(form); }, true);
    form.addEventListener("input", event => { if (!event.isComposing) checkSoon(); });
    form.addEventListener("compositionend", checkSoon);
    form.addEventListener("input", remember);
    const status = saveState();
    if (status && !status.textContent) allSaved(form);
    caretToEnd(form);
    LBP.autosave(form, {
      status, onSaved: answer => saved(form, answer), onConflict: problem => refused(form, problem), onRefused: problem => refused(form, problem),
    });
    check();
  };
  const begin = () => { for (const form of $$("form[data-edit]")) arm(form); };

  /* Text of a page that was closed, or lost its log-in, before it was saved: its part is opened, and the text offered. */
  const KEPT = part => { const pk = $("#question-part")?.dataset.candidate; return pk ? `lbp:draft:${person}:/candidates/${pk}/save/${part}` : ""; };
  const offered = new Set();
  const reopen = () => {
    for (const part of ["question", "answer"]) {
      const name = KEPT(part);
      let kept = null;
      try { kept = name && localStorage.getItem(name); } catch { /* storage is forbidden: nothing was kept */ }
      if (!kept || offered.has(name)) continue;
      const link = $(`[data-part-link="${part}"]`);
      offered.add(name);
      if (link) htmx.trigger(link, "click");
    }
  };

  /* The pane goes to another candidate, or a verdict is given: what is typed is saved first. What cannot be saved stays,
     unless the person says otherwise. */
  const leaving = new WeakSet();
  addEventListener("htmx:confirm", event => {
    const { elt, verb, target, issueRequest } = event.detail;
    if (verb !== "get" || target?.id !== "pane" || leaving.has(elt) || !unsaved().length) return;
    event.preventDefault();
    const [form] = unsaved();
    const go = () => { leaving.add(elt); issueRequest(true); leaving.delete(elt); };
    Promise.allSettled(unsaved().map(one => one.autosaving.flush())).then(() => {
      if (!unsaved().length) { go(); return; }
      LBP.toast(form.dataset.wordUnsaved, { state: "warn", undo: { label: form.dataset.wordLeave, key: "", run: go } });
      $("textarea:not([hidden]), .lines .input", form)?.focus();
    });
  });
  addEventListener("htmx:afterSettle", () => {
    begin();
    const status = saveState();
    if (status && !editors().length && status.dataset.state !== "failed") status.replaceChildren();
    reopen();
  });
  begin();
  addEventListener("htmx:load", reopen);
})();
