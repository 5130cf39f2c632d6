/* Standardization: both prompts and all findings follow what is typed (computed by the server alone), findings stand at
   their fields with the change that mends them, the draft saves itself, and what somebody else saved is never
   overwritten. Without this script the form saves and completes as a plain form. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const form = $("form[data-standardize]");
  const PREVIEW_DELAY = 350;

  /* ---- parts of the page from the server: never through htmx, which would take the form for saved ---------- */
  const fragment = async (url, { body = null, signal } = {}) => {
    const headers = { "HX-Request": "true", Accept: "text/html" };
    const response = body
      ? await fetch(url, { method: "POST", body, signal, headers: { ...headers, "X-CSRFToken": body.get("csrfmiddlewaretoken") || "" } })
      : await fetch(url, { signal, headers });
    if (!response.ok || response.headers.get("HX-Redirect")) throw new Error(String(response.status));
    return new DOMParser().parseFromString(await response.text(), "text/html").body;
  };

  /* ---- versions: fetched when the sheet is opened ------------------------------------------------------------ */
  addEventListener("click", async event => {
    const button = event.target.closest?.("[data-versions-url]");
    if (!button) return;
    try { $("#versions-listed").replaceChildren(...(await fragment(button.dataset.versionsUrl)).childNodes); }
    catch { window.LBP?.refuse(window.LBP.words.unreachable); }
  });

  if (!form) return;
  /* Not form.elements: a part has that name. */
  const fieldOf = name => (name ? $(`[name="${CSS.escape(name)}"]`, form) : null);
  const words = form.dataset;
  const values = () => { const body = new FormData(form); body.delete("_once"); return body; };

  /* ---- preview: the newest text wins, an answer to an older one is dropped ------------------------------------ */
  let timer = 0, asked = 0, abort = null;
  const preview = async () => {
    clearTimeout(timer);
    const mine = ++asked;
    abort?.abort();
    abort = new AbortController();
    try {
      const body = await fragment(words.previewUrl, { body: values(), signal: abort.signal });
      const fresh = $("#previewed", body);
      if (mine !== asked || !fresh) return;
      show(fresh);
    } catch (error) {
      if (mine === asked && error.name !== "AbortError") $("#previewed").dataset.stale = "yes";
    }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(preview, PREVIEW_DELAY); $("#previewed").setAttribute("aria-busy", "true"); };
  /* Who stands on a repair's button stays on the checks; how far a prompt is scrolled stays too. */
  const show = fresh => {
    const old = $("#previewed");
    const inside = old.contains(document.activeElement);
    const at = $$("#checks button", old).indexOf(document.activeElement);
    const scrolled = $$(".prompt", old).map(el => el.scrollTop);
    old.replaceWith(fresh);
    $$(".prompt", fresh).forEach((el, place) => { el.scrollTop = scrolled[place] || 0; });
    if (inside) { const buttons = $$("#checks button", fresh); (buttons[Math.min(Math.max(at, 0), buttons.length - 1)] || $("[data-complete]"))?.focus(); }
    settle();
  };

  /* ---- findings at their fields: not before a field was left once or held text when the page came -------------- */
  const left = new Set($$("textarea[name], input[name]", form).filter(input => input.value && input.type !== "hidden").map(input => input.name));
  const atFields = () => {
    for (const place of $$(".found", form)) {
      const name = place.id.slice(3);
      const input = fieldOf(name);
      const found = left.has(name) ? $$(`#previewed [data-field="${name}"][data-severity="error"]`) : [];
      /* Rebuilt only when it says something else: a button must not go away between its being pressed and let go. */
      const said = found.map(item => item.outerHTML).join("");
      if (place.dataset.said !== said) place.replaceChildren(...found.map(item => {
        const line = document.createElement("p");
        line.className = "field__error";
        const text = document.createElement("span");
        text.textContent = $("[data-text]", item).textContent;
        line.append(...(window.LBP ? [window.LBP.icon("bang")] : []), text);
        const mend = $("[data-repair]", item);
        if (mend) { const copy = mend.cloneNode(true); copy.className = "keylink"; line.append(" ", copy); }
        return line;
      }));
      place.dataset.said = said;
      if (!input) continue;
      if (found.length) input.setAttribute("aria-invalid", "true"); else input.removeAttribute("aria-invalid");
      input.setAttribute("aria-describedby", place.id);
    }
  };
  const settle = () => {
    const why = $("#why");
    const failing = Number(why?.dataset.errors || 0);
    const complete = $("[data-complete]");
    if (failing) complete?.setAttribute("aria-disabled", "true"); else complete?.removeAttribute("aria-disabled");
    const sum = $("#sum");
    if (sum) { const text = why?.textContent.trim() || ""; if (sum.textContent !== text) { sum.textContent = text; sum.title = text; } }
    $("#first").hidden = !$$("#checks [data-severity]").length;
    atFields();
  };

  /* ---- repairs: code points, as the server counts; only while the text is still the one that was looked at ----- */
  const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
  const textOf = field => (field.name === "example" ? field.value.split(LINE_END).map(line => line.trim()).filter(Boolean).join("\n") : field.value);
  const put = (field, text, caret = null) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    if (caret !== null) { field.focus(); field.setSelectionRange(caret, caret); }
  };
  const mend = button => {
    const { repair, start, end, with: text, expected } = button.dataset;
    const field = fieldOf(repair);
    if (!field) return;
    const points = Array.from(textOf(field));
    if (points.slice(Number(start), Number(end)).join("") !== expected) { window.LBP?.toast(words.wordMoved, { state: "warn" }); preview(); return; }
    const before = points.slice(0, Number(start)).join("");
    put(field, before + text + points.slice(Number(end)).join(""), (before + text).length);
    left.add(field.name);
    window.LBP?.say((words.wordMended || "").replace("{what}", button.textContent.trim()));
    preview();
  };
  /* From a finding to its place: the field with the found text selected. */
  const goTo = item => {
    const field = fieldOf(item?.dataset.field || "");
    if (!field) { item?.scrollIntoView({ block: "nearest" }); return; }
    field.focus();
    if (item.dataset.start === undefined) return;
    const points = Array.from(textOf(field));
    const start = points.slice(0, Number(item.dataset.start)).join("").length;
    field.setSelectionRange(start, start + points.slice(Number(item.dataset.start), Number(item.dataset.end)).join("").length);
  };
  addEventListener("click", event => {
    const button = event.target.closest?.("[data-repair]");
    if (button) { event.preventDefault(); mend(button); return; }
    if (event.target.closest?.("#first")) { goTo($('#checks [data-severity="error"]') || $("#checks [data-severity]")); return; }
    const item = event.target.closest?.("#checks [data-field]");
    if (item) goTo(item);
  });

  /* ---- keys: 1 to 4 the parts, j and k the findings ------------------------------------------------------------- */
  const step = by => {
    const items = $$("#checks [data-severity]");
    if (!items.length) return;
    const at = items.findIndex(item => item.hasAttribute("aria-current"));
    const next = items[at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by))];
    items.forEach(item => item.removeAttribute("aria-current"));
    next.setAttribute("aria-current", "true");
    next.scrollIntoView({ block: "nearest" });
    const button = $("button", next);
    if (button) button.focus(); else { next.tabIndex = -1; next.focus(); }
  };
  addEventListener("keydown", event => {
    if (event.defaultPrevented || document.documentElement.dataset.shortcuts === "off" || event.repeat || !window.LBP || LBP.typing(event)) return;
    const part = $(`[data-part="${CSS.escape(event.key)}"]`, form);
    if (part) { event.preventDefault(); part.focus(); return; }
    if (event.key === "j" || event.key === "k") { event.preventDefault(); step(event.key === "j" ? 1 : -1); }
  });

  /* ---- saving: by itself, and both texts when somebody else saved first -------------------------------------------- */
  let choosing = false;
  const saving = window.LBP?.autosave(form, {
    onSaved: () => atFields(),
    onConflict: async problem => {
      if (choosing) return;
      window.LBP.say(problem.detail || "");
      try { $("#conflict").replaceChildren(...(await fragment(words.compareUrl, { body: values() })).childNodes); $("#conflict").scrollIntoView({ block: "nearest" }); }
      catch { window.LBP.refuse(problem.detail || window.LBP.words.conflict); }
    },
  });
  /* Leaving the field for the button has begun one more save under the old number: its refusal is waited for. */
  const choose = async button => {
    const panel = $("#conflict");
    choosing = true;
    await saving?.flush();
    fieldOf("version").value = button.parentElement.dataset.now;
    if (button.dataset.choose === "stored") { takeUp(panel); saving?.settle(); }
    panel.replaceChildren();
    choosing = false;
    if (button.dataset.choose === "mine") { saving?.touch(); saving?.flush(); } else tellSaved();
    fieldOf("task_description").focus();
    preview();
  };
  const tellSaved = () => { const bar = $("#saved"); if (bar) { bar.dataset.state = "saved"; bar.textContent = words.wordTaken; } };
  const takeUp = within => { 
    for (const stored of $$("template[data-stored]", within)) {
      const field = fieldOf(stored.dataset.stored);
      const text = stored.content.textContent;
      if (field && field.value !== text) put(field, text);
      left.add(stored.dataset.stored);
    }
   };
  addEventListener("click", event => {
    const chosen = event.target.closest?.("[data-choose]");
    if (chosen) { choose(chosen); return; }
    const back = event.target.closest?.("[data-put-back]");
    if (back) { takeUp(back.closest("article")); $("#versions").close(); window.LBP?.say(words.wordPutBack); preview(); }
  });
  /* What was typed last is saved before anything is completed, so that no text is left behind in the browser. */
  form.addEventListener("submit", event => {
    if (!saving?.pending() || form.dataset.flushed) { delete form.dataset.flushed; return; }
    event.preventDefault();
    event.stopImmediatePropagation();
    const { submitter } = event;
    saving.flush().then(() => {
      if (saving.changed()) { window.LBP.refuse(words.wordUnsaved); return; }
      form.dataset.flushed = "yes";
      form.requestSubmit(submitter);
    });
  }, true);
  addEventListener("click", event => {
    if (!saving || !event.target.closest?.("[data-draft]")) return;
    event.preventDefault();
    saving.flush();
  });

  form.addEventListener("input", event => { if (event.target.matches("[data-part]")) soon(); });
  addEventListener("focusout", event => {
    if (!event.target.matches?.("[data-part]")) return;
    left.add(event.target.name);
    atFields();
  });
  settle();
})();
