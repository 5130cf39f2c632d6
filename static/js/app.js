/* The shell's behaviour: theme, keys, sheets, toasts, what went wrong with a request, and typed text that is never
   lost. A plain script without a build. Everything here is an addition: the pages work as plain forms without it.

   Other scripts use window.LBP:
     say(text)                     speak through the polite live region
     toast(text, {state, undo})    a short note; undo = {label, key, run}; leaves after 8 s
     refuse(text)                  the message bar under the top bar (what was refused, and why)
     autosave(form, options)       save a form while it is typed in (see below)
     typing(event)                 true when a single key must rest
     words                         the translated words of components/words.html
     icon(name)                    an icon of icons.svg as an element */
(() => {
  "use strict";
  const root = document.documentElement;
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const wordsOf = $("#words");
  const words = wordsOf ? wordsOf.dataset : {};
  const fill = (text, values) => (text || "").replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const clock = (date = new Date()) => date.toLocaleTimeString(root.lang, { hour: "2-digit", minute: "2-digit", hour12: false });
  const person = root.dataset.person || "";
  const store = (area, name, value) => {
    try {
      if (value === null) area.removeItem(name);
      else if (value !== undefined) area.setItem(name, value);
      return area.getItem(name);
    } catch { return null; }  /* storage full or forbidden: the page goes on without it */
  };
  const kept = value => { try { return JSON.parse(value); } catch { return null; } };

  /* ---- small parts ------------------------------------------------------ */
  const icon = name => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    svg.setAttribute("class", "i");
    svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", `${root.dataset.icons}#${name}`);
    svg.append(use);
    return svg;
  };
  const element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made && name !== "style") made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };
  const button = (label, run, key = "") => {
    const made = element("button", { type: "button", className: "btn btn--s" }, label);
    if (key) { made.dataset.key = key; made.setAttribute("aria-keyshortcuts", key); made.append(" ", element("kbd", {}, key)); }
    made.addEventListener("click", run);
    return made;
  };
  const closer = run => {
    const made = element("button", { type: "button", className: "btn btn--icon btn--quiet btn--s", title: words.close }, icon("cross"));
    made.setAttribute("aria-label", words.close);
    made.addEventListener("click", run);
    return made;
  };

  const say = text => {
    const said = $("#said");
    if (!said) return;
    said.textContent = "";
    setTimeout(() => { said.textContent = text; }, 30);
  };

  /* ---- toasts ------------------------------------------------------------ */
  const LEAVES_AFTER = 8000;
  const leaveLater = toast => {
    if (toast.dataset.leaving || toast.dataset.state === "fail" || toast.hasAttribute("data-stays")) return;
    toast.dataset.leaving = "yes";
    const leave = () => {
      if (toast.matches(":hover") || toast.contains(document.activeElement)) setTimeout(leave, 1500);
      else toast.remove();
    };
    setTimeout(leave, LEAVES_AFTER);
  };
  const toast = (text, { state = "idle", undo = null, stays = false } = {}) => {
    const glyph = { pass: "check", fail: "cross", warn: "bang", now: "half" }[state] || "info";
    const made = element("div", { className: "toast" }, icon(glyph), element("span", {}, text));
    made.dataset.state = state;
    for (const before of $$("#toasts > .toast")) if (before.dataset.text === text) before.remove();
    made.dataset.text = text;
    if (stays) made.setAttribute("data-stays", "");
    if (undo) made.append(button(undo.label || words.undo, () => { made.remove(); undo.run(); }, undo.key ?? "z"));
    made.append(closer(() => made.remove()));
    ($("#toasts") || document.body).append(made);
    leaveLater(made);
    return made;
  };

  const refuse = text => {
    const place = $("#refusal");
    if (!place) return;
    const box = element("div", { className: "refusal" }, icon("cross"), element("div", {}, element("p", {}, element("strong", {}, text))));
    box.append(closer(() => place.replaceChildren()));
    place.replaceChildren(box);
  };
  const forgive = () => $("#refusal")?.replaceChildren();

  /* ---- theme --------------------------------------------------------------- */
  const token = () => {
    try { return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || ""; } catch { return ""; }
  };
  const post = (url, body, headers = {}) =>
    fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token(), "HX-Request": "true", Accept: "application/json", ...headers } });
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const flip = async form => {
    const theme = dark() ? "light" : "dark";
    root.dataset.theme = theme;
    const body = new FormData(form);
    body.set("theme", theme);
    try {
      if (!(await post(form.action, body)).ok) throw new Error("not kept");
    } catch { toast(words.unreachable, { state: "warn" }); }
  };

  /* ---- keys ------------------------------------------------------------------ */
  const FIELDS = "input:not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit]), textarea, select, [contenteditable]:not([contenteditable=false])";
  const inField = target => Boolean(target?.closest?.(FIELDS));
  const composing = event => event.isComposing || event.keyCode === 229;
  const typing = event => composing(event) || event.ctrlKey || event.metaKey || event.altKey || inField(event.target) || Boolean($("dialog[open]"));
  const visible = el => el.checkVisibility ? el.checkVisibility({ visibilityProperty: true }) : el.offsetParent !== null;
  const keyed = (key, within = document) => $$(`[data-key="${CSS.escape(key)}"]`, within).find(el => visible(el) && !el.disabled);
  /* Lists need not name these: j and k walk the rows, / goes to the search field. */
  const rowLinks = () => $$("main .table tbody tr").map(row => $("a[href], button", row)).filter(el => el && visible(el));
  const fallback = key => {
    if (key === "/") return $$('main input[type="search"]').find(visible);
    if (key !== "j" && key !== "k") return null;
    const links = rowLinks();
    const at = links.findIndex(link => link.closest("tr").contains(document.activeElement));
    const next = links[key === "j" ? at + 1 : Math.max(at - 1, 0)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return null;
  };
  const press = el => {
    if (el.matches(FIELDS)) { el.focus(); el.select?.(); return; }
    if (el.getAttribute("aria-disabled") === "true") el.focus();
    el.click();
  };
  /* ---- focus: whatever goes away while it is focused, the focus stays in its place ------------------------------ */
  const nowhere = () => !document.activeElement || document.activeElement === document.body;
  const focusOn = el => {
    if (!el.matches("a[href], button, input, select, textarea, summary, [tabindex]")) el.tabIndex = -1;
    el.focus({ preventScroll: true });
  };
  let focused = null, around = [];  /* a note that comes and goes is no place to return to */
  addEventListener("focusin", event => {
    focused = event.target;
    if (focused.closest("#toasts, #refusal")) return;
    around = [];
    for (let at = focused; at && at !== document.body; at = at.parentElement) around.push(at);
  });
  /* What came in the place of what was focused: the same control, by its id, its key or its name. */
  const again = () => {
    const [was, ...outer] = around;
    if (!was || was.isConnected) return was;
    const home = outer.map(el => el.id && document.getElementById(el.id)).find(Boolean);
    if (was.id && document.getElementById(was.id)) return document.getElementById(was.id);
    if (!home) return null;
    if (was.dataset.key) return $(`[data-key="${CSS.escape(was.dataset.key)}"]`, home);
    return was.name ? $$(`[name="${CSS.escape(was.name)}"]`, home).find(el => el.type === was.type && (!el.matches("[type=radio], [type=checkbox]") || el.value === was.value)) : null;
  };
  const recover = () => {
    if (!focused || focused.isConnected || !nowhere()) return;
    const same = again();
    const home = same && visible(same) && !same.disabled ? same
      : around.find(el => el.isConnected && el.matches("dialog[open], .scroll, main") && visible(el)) || $("dialog[open]") || $("main");
    if (home) focusOn(home);
  };
  new MutationObserver(recover).observe(document.body, { childList: true, subtree: true });
  /* A page of work, or one that answers what was sent, opens where one goes on. */
  const enter = () => {
    if (!nowhere() || location.hash) return;
    const first = $$("main :is([autofocus], [data-focus])").find(el => visible(el) && !el.disabled);
    if (first || document.body.classList.contains("app") || $("#toasts > .toast")) focusOn(first || $("main"));
  };

  /* A field that is left gives the focus to what it stands in: nothing is ever focused but the page itself. */
  const leave = field => {
    const home = field.closest("dialog, .scroll, main") || $("main");
    field.blur();
    if (home && nowhere()) focusOn(home);
  };
  addEventListener("keydown", event => {
    if (event.defaultPrevented) return;
    if (inField(event.target) && !composing(event)) {
      if (event.key === "Escape" && !$("dialog[open]")) { leave(event.target); return; }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); leaveField(event.target); return; }
      const line = event.target.matches("input:not([type=search]):not([type=submit]):not([type=button])");
      if (event.key === "Enter" && line && document.body.classList.contains("app") && !event.target.form?.hasAttribute("data-enter")) event.preventDefault();
      return;
    }
    if (root.dataset.shortcuts === "off" || event.repeat) return;
    const open = $("dialog[open]");
    /* Inside a dialog only its own keys work, and never while somebody types there. */
    if (open ? composing(event) || event.ctrlKey || event.metaKey || event.altKey : typing(event)) return;
    const target = open ? (open.hasAttribute("data-keys") ? keyed(event.key, open) : null) : keyed(event.key) || fallback(event.key);
    if (!target) return;
    event.preventDefault();
    press(target);
  });
  const leaveField = field => {
    const owner = field.form?.autosaving;
    if (owner) owner.flush();
    leave(field);
    const submit = field.closest("form")?.querySelector("[data-ctrl-enter]");
    if (submit) submit.click();
  };

  /* ---- clicks: sheets, closed buttons ---------------------------------------- */
  const why = el => (el.getAttribute("aria-describedby") || "").split(" ").map(id => document.getElementById(id)?.textContent.trim()).filter(Boolean).join(" ");
  addEventListener("click", event => {
    const closed = event.target.closest?.('[aria-disabled="true"]');
    if (closed) { event.preventDefault(); event.stopImmediatePropagation(); say(why(closed) || words.closed); }
    /* The second stroke of a double one was meant for the page before: data-after says from which millisecond of the
       page on a key may decide here. A pointer has to find its way, and is not held up. */
    const early = event.detail === 0 && event.target.closest?.("[data-after]");
    if (early && performance.now() < +early.dataset.after) { event.preventDefault(); event.stopImmediatePropagation(); }
  }, true);
  let opener = null;
  const openDialog = (dialog, by) => {
    if (!dialog || dialog.open) return;
    /* By its key a sheet opens from wherever one stands, and closes to there. */
    opener = nowhere() ? by : document.activeElement;
    dialog.showModal();
  };
  addEventListener("click", event => {
    const el = event.target.closest?.("[data-do]");
    if (!el) return;
    const target = el.dataset.target ? $(el.dataset.target) : null;
    switch (el.dataset.do) {
      case "open": event.preventDefault(); openDialog(target, el); break;
      case "close": event.preventDefault(); (target || el.closest("dialog"))?.close(); break;
      case "dismiss": el.closest(".toast, .refusal, .note")?.remove(); break;
      case "theme": event.preventDefault(); flip(el.form); break;
      case "back": event.preventDefault(); history.back(); break;
      case "copy":
        if (target) navigator.clipboard?.writeText(target.value ?? target.textContent).then(() => say(el.textContent), () => target.select?.());
        target?.select?.();
        break;
    }
  });
  addEventListener("click", event => { if (event.target.matches?.("dialog[open]:not([data-modal])")) event.target.close(); });
  addEventListener("close", event => {
    if (event.target.matches?.("dialog") && opener?.isConnected) opener.focus();
  }, true);

  /* ---- typed text: kept before leaving, offered on return ---------------------- */
  const TEXT = "textarea, input[type=text], input:not([type]), input[type=search]";
  const textFields = () => $$(`form[method=post] :is(${TEXT}), form[hx-post] :is(${TEXT})`).filter(field => field.name && !field.readOnly && !field.closest("[data-nokeep]"));
  const place = field => {
    const form = field.form;
    const same = $$(`[name="${CSS.escape(field.name)}"]`, form);
    return [form.id || form.getAttribute("action") || form.getAttribute("hx-post") || "", field.name, same.indexOf(field)];
  };
  const KEPT = "lbp:kept:";
  const here = location.pathname;
  const keepText = only => {
    const changed = textFields().filter(field => field.value !== field.defaultValue && (!only || field.form === only));
    if (!changed.length) return;
    const texts = changed.map(field => ({ place: place(field), value: field.value }));
    store(sessionStorage, KEPT + here, JSON.stringify({ person, at: Date.now(), texts }));
  };
  const offerText = () => {
    const raw = store(sessionStorage, KEPT + here);
    if (!raw) return;
    const entry = kept(raw);
    const drop = () => store(sessionStorage, KEPT + here, null);
    if (!entry || (entry.person && person && entry.person !== person)) { drop(); return; }
    const fields = textFields();
    const found = entry.texts.map(item => ({ item, field: fields.find(field => String(place(field)) === String(item.place)) }));
    const open = found.filter(({ item, field }) => field && field.value !== item.value);
    if (!open.length) { if (found.every(({ field }) => field)) drop(); return; }
    const restore = () => {
      for (const { item, field } of open) { field.value = item.value; field.dispatchEvent(new Event("input", { bubbles: true })); }
      open[0].field.focus();
      drop(); note.remove();
    };
    if (entry.quietly) { restore(); return; }
    const note = toast(fill(words.kept, { time: clock(new Date(entry.at)) }), { state: "warn", stays: true });
    note.lastChild.before(button(words.restore, restore), button(words.drop, () => { drop(); note.remove(); }));
  };

  /* A plain form that was sent: keep its text until the next page shows that it arrived. */
  const SENT = "lbp:sent";
  const settleSent = () => {
    const path = store(sessionStorage, SENT);
    if (!path || root.hasAttribute("data-refused")) return;
    store(sessionStorage, SENT, null);
    if (!person) return;  /* the log-in had run out: nothing arrived, and the text is offered after the next */
    if (store(sessionStorage, "lbp:refused") !== path) store(sessionStorage, KEPT + path, null);
    store(sessionStorage, "lbp:refused", null);
  };
  if (root.hasAttribute("data-refused")) {
    const path = store(sessionStorage, SENT);
    if (path) store(sessionStorage, "lbp:refused", path);
    $$('[data-do="back"]').forEach(el => { el.hidden = history.length < 2; });
  }

  /* ---- sending: busy buttons, one sending at a time, leaving with unsaved text -- */
  let leaving = false;
  const guarded = form => form && !form.hasAttribute("data-noguard") && !form.autosaving && (form.method === "post" || form.hasAttribute("hx-post"));
  addEventListener("input", event => { const form = event.target.form; if (guarded(form) && event.target.matches(TEXT)) form.dataset.dirty = "yes"; });
  addEventListener("submit", event => {
    const form = event.target;
    if (form.method === "dialog" || event.defaultPrevented) return;
    if (form.hasAttribute("hx-post") || form.closest("[hx-boost=true]") || form.hasAttribute("hx-get")) { forgive(); return; }
    if (form.dataset.sending) { event.preventDefault(); return; }
    if (form.method === "post") {
      form.dataset.sending = "yes";
      /* After the submission has taken the button's value along. */
      setTimeout(() => event.submitter?.setAttribute("aria-busy", "true"), 0);
      if (!form.hasAttribute("data-noguard")) { keepText(form.hasAttribute("data-keep") ? null : form); store(sessionStorage, SENT, here); }
      if (form.hasAttribute("data-keep")) quietly();
    }
    leaving = true;
  });
  /* The language switch comes back to the same page: its text is put back without asking. */
  const quietly = () => {
    store(sessionStorage, SENT, null);
    const entry = kept(store(sessionStorage, KEPT + here));
    if (entry) store(sessionStorage, KEPT + here, JSON.stringify({ ...entry, quietly: true }));
  };
  addEventListener("pageshow", event => {
    leaving = false;
    if (!event.persisted) return;
    $$("form[data-sending]").forEach(form => delete form.dataset.sending);
    $$("[aria-busy=true]").forEach(el => el.removeAttribute("aria-busy"));
  });
  addEventListener("beforeunload", event => {
    if (leaving || !$("form[data-dirty]")) return;
    event.preventDefault();
  });

  /* ---- htmx: no request fails in silence ------------------------------------------ */
  const freshen = form => { for (const once of $$('input[name="_once"]', form)) once.value = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`; };
  const formOf = el => (el?.matches?.("form") ? el : el?.closest?.("form"));
  const presser = detail => detail.requestConfig?.triggeringEvent?.submitter || (detail.elt?.matches?.("button, a") ? detail.elt : null);
  addEventListener("htmx:beforeRequest", event => {
    const { elt } = event.detail;
    presser(event.detail)?.setAttribute("aria-busy", "true");
    if (elt.matches?.("form")) elt.dataset.sending = "yes";
  });
  addEventListener("htmx:afterRequest", event => {
    const { detail } = event;
    presser(detail)?.removeAttribute("aria-busy");
    const form = formOf(detail.elt);
    if (!form) return;
    delete form.dataset.sending;
    /* Answered: the next sending is a new one. Not answered: the same `_once` goes again, so it has one effect. */
    if (detail.xhr?.status) freshen(form);
    if (detail.successful) { delete form.dataset.dirty; form.autosaving?.settle(); forgive(); }
  });
  /* A verdict sent while a text is still being saved waits for it, and goes with the version that the save brought. */
  const waited = new WeakSet();
  addEventListener("htmx:confirm", event => {
    const { elt, verb, issueRequest } = event.detail;
    if (verb === "get" || waited.has(elt)) { waited.delete(elt); return; }
    const pending = $$("form").filter(form => form !== elt && form.autosaving?.pending());
    if (!pending.length) return;
    event.preventDefault();
    waited.add(elt);
    Promise.allSettled(pending.map(form => form.autosaving.flush())).then(() => issueRequest(false));
  });
  /* Part of the page that asks again by itself (`every 2s`): nobody typed, nothing was sent, and the next asking may
     succeed. What is lost is said in the bar, where it covers nothing, until an answer comes. */
  const polls = ({ requestConfig: asked }) => Boolean(asked?.elt) && !asked.triggeringEvent && /\bevery\b/.test(asked.elt.getAttribute("hx-trigger") || "");
  const unanswered = detail => {
    if (!polls(detail)) return false;
    if (!$("#lost") && $(".top")) {
      const pill = element("span", { id: "lost", className: "pill" }, icon("bang"), words.lost);
      pill.dataset.state = "warn";
      ($(".top > .grow") || $(".top").lastElementChild).after(pill);
      say(words.lost);
    }
    return true;
  };
  addEventListener("htmx:afterRequest", event => {
    const { status } = event.detail.xhr || {};
    if (status && status < 500 && polls(event.detail)) $("#lost")?.remove();
  });
  addEventListener("htmx:beforeSwap", event => {
    const { detail } = event;
    const { xhr } = detail;
    if (xhr.status >= 500 && unanswered(detail)) { detail.shouldSwap = false; return; }
    const redirect = xhr.getResponseHeader("HX-Redirect");
    if (redirect) { expired(); return; }
    if (xhr.status < 400) return;
    const type = xhr.getResponseHeader("Content-Type") || "";
    const whole = /^\s*<(!doctype|html)/i.test(xhr.responseText);
    if (whole || !type.startsWith("text/html") || !xhr.responseText.trim()) {
      detail.shouldSwap = false;
      refuse(xhr.status === 404 || xhr.status === 410 ? words.gone : fill(words.broken, { status: xhr.status }));
    }
  });
  addEventListener("htmx:beforeOnLoad", event => { if (event.detail.xhr.getResponseHeader("HX-Redirect")) expired(); });
  const expired = () => { keepText(); leaving = true; };
  addEventListener("htmx:sendError", ({ detail }) => { if (!unanswered(detail)) refuse(navigator.onLine ? words.unreachable : words.offline); });
  addEventListener("htmx:timeout", ({ detail }) => { if (!unanswered(detail)) refuse(words.timeout); });
  addEventListener("htmx:swapError", () => refuse(fill(words.broken, { status: "swap" })));
  addEventListener("htmx:targetError", () => refuse(fill(words.broken, { status: "target" })));
  addEventListener("htmx:afterSettle", () => { $$("#toasts > .toast").forEach(leaveLater); });
  /* Messages that came with a fragment (core.middleware.FragmentMessagesMiddleware). */
  addEventListener("lbp:messages", event => {
    for (const message of event.detail.value || event.detail.messages || []) toast(message.text, { state: message.state });
  });
  /* The page is from before the last log-in: the answer brought the token of now. */
  addEventListener("lbp:token", event => {
    if (event.detail.person !== person) return;
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": event.detail.token }));
    for (const input of $$('input[name="csrfmiddlewaretoken"]')) input.value = event.detail.token;
  });
  addEventListener("offline", () => toast(words.offline, { state: "warn" }));

  /* ---- autosave ---------------------------------------------------------------------
     LBP.autosave(form, {url, status, onSaved, onConflict, onRefused})
       url         where the form's fields are posted (default: data-save-url, else the action)
       status      the `.save` element (default: [data-save-for="form id"], `.save` in the form, then in the bar)
       onSaved     (answer) after each save; the answer is the JSON of the server, {} for other answers
       onConflict  (problem) on 409; without it the words of the problem are shown
       onRefused   (problem) on 400, 403, 422
     The server answers 2xx with JSON {"version": n} (taken over into the form's `version` field) or with nothing.
     The text lies in localStorage before the request starts and leaves it when the server has it. */
  const DELAY = 800;
  const RETRIES = [2, 4, 8, 16, 30];
  const fieldsOf = form => [...new FormData(form)].filter(([name, value]) => typeof value === "string" && !["csrfmiddlewaretoken", "_once", "version", "claim"].includes(name));

  /* Not form.elements: a field may be called "elements" and stand in its place. */
  const named = (form, name) => $(`[name="${CSS.escape(name)}"]`, form);

  const autosave = (form, options = {}) => {
    if (form.autosaving) return form.autosaving;
    const url = options.url || form.dataset.saveUrl || form.action;
    const address = new URL(url, location.href).pathname;
    const name = `lbp:draft:${person}:${address}`;
    const status = options.status || $(`[data-save-for="${CSS.escape(form.id || "-")}"]`) || $(".save", form) || $(".top .save");
    let timer = 0, running = null, sending = false, again = false, failures = 0, countdown = 0, stopped = false;
    let saved = JSON.stringify(fieldsOf(form));
    form.dataset.noguard = "";

    /* The bar has room for the state; the whole reason is its tip, and is said. */
    const show = (state, text, glyph, whole = "") => {
      if (!status) return;
      status.dataset.state = state;
      status.title = whole;
      status.replaceChildren(icon(glyph), text);
    };
    const changed = () => JSON.stringify(fieldsOf(form)) !== saved;
    const touch = event => {
      if (!changed() && !sending) { store(localStorage, name, null); return; }
      const held = store(localStorage, name, JSON.stringify({ at: Date.now(), fields: fieldsOf(form) }));
      form.dataset.dirty = "yes";
      stopped = false;
      clearTimeout(timer);
      /* Half a composition is kept here but not sent. */
      if (!event?.isComposing) timer = setTimeout(flush, DELAY);
      return held;
    };
    const failed = reason => {
      const wait = RETRIES[Math.min(failures++, RETRIES.length - 1)];
      clearInterval(countdown);
      let left = wait;
      const tick = () => {
        show("failed", `${words.unsaved} ${fill(words.retry, { seconds: left })}`, "bang", reason);
        if (!form.isConnected) clearInterval(countdown);
        else if (left-- <= 0) { clearInterval(countdown); flush(); }
      };
      if (failures === 1) say(`${reason} ${words.unsaved}`);
      tick();
      countdown = setInterval(tick, 1000);
    };
    /* Refused for a reason that trying again does not change: wait for the next keystroke. */
    const refused = (reason, problem, call) => {
      stopped = true;
      show("failed", call ? words.unsaved : `${words.unsaved} ${reason}`, "bang", reason);
      if (call) call(problem); else refuse(reason);
    };
    const errorsAt = (errors = {}) => {
      for (const [field, texts] of Object.entries(errors)) {
        const input = named(form, field);
        if (!input) continue;
        const id = `${input.id || field}_note`;
        document.getElementById(id)?.remove();
        const note = element("div", { id }, ...texts.map(text => element("p", { className: "field__error" }, icon("bang"), element("span", {}, text))));
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", id);
        input.after(note);
      }
    };
    const clearErrors = () => {
      for (const input of $$('[aria-invalid="true"]', form)) {
        input.removeAttribute("aria-invalid");
        const note = document.getElementById(`${input.id || input.name}_note`);
        if (note?.querySelector(".field__error")) note.remove();
      }
    };
    /* The promise ends when what is typed by now was answered for, or could not be sent. */
    const flush = async () => {
      clearTimeout(timer);
      if (sending) { again = true; await running; return changed() && !stopped ? flush() : undefined; }
      if (!form.isConnected || !changed()) return;
      await (running = send());
    };
    const send = async () => {
      clearInterval(countdown);
      const sent = JSON.stringify(fieldsOf(form));
      store(localStorage, name, JSON.stringify({ at: Date.now(), fields: fieldsOf(form) }));
      sending = true;
      show("saving", words.saving, "half");
      const abort = new AbortController();
      const limit = setTimeout(() => abort.abort(), 20000);
      try {
        const response = await fetch(url, {
          method: "POST", body: new FormData(form), signal: abort.signal,
          headers: { "X-CSRFToken": token(), "HX-Request": "true", "HX-Current-URL": location.href, Accept: "application/json" },
        });
        await answered(response, sent);
      } catch {
        failed(navigator.onLine ? "" : words.offline);
      } finally {
        clearTimeout(limit);
        sending = false;
        if (again && !stopped && form.isConnected) timer = setTimeout(flush, DELAY);
        again = false;
      }
    };
    /* The version of now, also in the forms that act on the same record: <input name="version" data-version-of="form id"> */
    const follow = version => {
      const own = named(form, "version");
      if (own) own.value = version;
      for (const input of $$(`[data-version-of="${CSS.escape(form.id || "-")}"]`)) input.value = version;
    };
    const answered = async (response, sent) => {
      const login = response.headers.get("HX-Redirect");
      if (login) { show("failed", words.leave, "lock"); keepText(); leaving = true; location.assign(login); return; }
      const json = (response.headers.get("Content-Type") || "").includes("json");
      const answer = json ? await response.json() : {};
      freshen(form);
      if (response.ok) {
        failures = 0; saved = sent;
        clearErrors(); forgive();
        if (answer.version !== undefined) follow(answer.version);
        show("saved", fill(words.saved, { time: clock() }), "check");
        if (changed()) { again = true; } else { store(localStorage, name, null); delete form.dataset.dirty; }
        options.onSaved?.(answer);
        return;
      }
      if (response.status === 409) { refused(answer.detail || words.conflict, answer, options.onConflict); return; }
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        errorsAt(answer.errors);
        refused(answer.detail || (response.status === 404 ? words.gone : fill(words.broken, { status: response.status })), answer, options.onRefused);
        return;
      }
      failed("");
    };
    const offer = () => {
      const draft = kept(store(localStorage, name));
      if (!draft || JSON.stringify(draft.fields) === saved) { store(localStorage, name, null); return; }
      const note = toast(fill(words.kept, { time: clock(new Date(draft.at)) }), { state: "warn", stays: true });
      const drop = () => { store(localStorage, name, null); note.remove(); };
      const restore = () => { putBack(form, draft.fields); note.remove(); touch(); };
      note.lastChild.before(button(words.restore, restore), button(words.drop, drop));
    };

    form.addEventListener("input", touch);
    form.addEventListener("compositionend", () => touch());
    form.addEventListener("change", () => { touch(); flush(); });
    /* A save on its way would make the version that is sent with the form an old one: the form goes after it. */
    form.addEventListener("submit", event => {
      clearTimeout(timer);
      clearInterval(countdown);
      if (!sending || form.hasAttribute("hx-post")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const submitter = event.submitter;
      running.then(() => { clearTimeout(timer); clearInterval(countdown); form.requestSubmit(submitter); });
    });
    addEventListener("online", () => { if (changed() && !stopped) flush(); });
    document.addEventListener("visibilitychange", () => { if (document.hidden && changed() && !stopped) flush(); });
    offer();
    const settle = () => { saved = JSON.stringify(fieldsOf(form)); clearTimeout(timer); clearInterval(countdown); store(localStorage, name, null); };
    form.autosaving = { flush, changed, touch, settle, pending: () => sending || (changed() && !stopped), forget: () => store(localStorage, name, null) };
    return form.autosaving;
  };
  const putBack = (form, fields) => {
    const seen = {};
    for (const box of $$("input[type=checkbox], input[type=radio]", form)) box.checked = false;
    for (const [name, value] of fields) {
      const all = $$(`[name="${CSS.escape(name)}"]`, form);
      const at = (seen[name] = (seen[name] ?? -1) + 1);
      const choice = all.find(el => el.matches("[type=checkbox], [type=radio]") && el.value === value);
      if (choice) choice.checked = true;
      else if (all[at]) { all[at].value = value; all[at].dispatchEvent(new Event("input", { bubbles: true })); }
    }
  };
  const arm = within => { for (const form of $$("form[data-autosave]", within)) autosave(form); };

  /* ---- start -------------------------------------------------------------------------- */
  window.LBP = { say, toast, refuse, forgive, autosave, typing, words, fill, icon, element, button, post, keepText };
  settleSent();
  arm(document);
  offerText();
  addEventListener("DOMContentLoaded", enter);  /* the page's own scripts go first */
  $$("#toasts > .toast").forEach(leaveLater);
  addEventListener("htmx:load", event => { if (event.detail.elt !== document.body) arm(event.detail.elt); });
})();
