/* What was typed at this desk and never arrived, while the desk is not this person's: to read, to copy or to drop. Who
   holds the sample gets it back in its field (LBP.autosave, desk.js). */
(() => {
  "use strict";
  const $ = query => document.querySelector(query);
  const words = $("#kept-words")?.dataset;
  if (!words || !window.LBP) return;
  const { element, icon, fill } = LBP;
  const person = document.documentElement.dataset.person || "";
  const read = key => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };
  const names = () => { try { return Object.keys(localStorage); } catch { return []; } };
  const clock = at => new Date(at).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hour12: false });

  /* The forms that stand at this desk when it is theirs: of the open candidate, of its answers, of the sample. */
  const isHere = (form, pk) => [`discard-${pk}`, `valuable-${pk}`, `submit-${words.sample}`].includes(form)
    || (form.startsWith("overrule-") && document.getElementById(`answer-${form.slice(9)}`));
  const kept = () => {
    const pk = $("#pane")?.dataset.candidate;
    const found = [];
    const take = (key, at, values) => {
      const texts = values.filter(([name, value]) => words[name] && value.trim());
      if (texts.length) found.push({ key, at, texts });
    };
    for (const key of names()) {
      const part = `lbp:draft:${person}:/candidates/${pk}/save/`, typed = `lbp:desk:${person}:`;
      const entry = key.startsWith(part) || key.startsWith(typed) ? read(key) : null;
      if (entry?.fields) take(key, entry.at, entry.fields);
      else if (entry?.values && isHere(key.slice(typed.length), pk)) take(key, entry.at, Object.entries(entry.values));
    }
    return found;
  };
  const note = ({ key, at, texts }) => {
    const made = element("div", { className: "note kept" }, icon("edit"));
    const body = element("div", { className: "stack" }, element("p", {}, fill(words.told, { time: clock(at) })));
    for (const [name, value] of texts) {
      const text = element("p", { className: "said", lang: words.lang }, value);
      text.setAttribute("translate", "no");
      body.append(element("div", {}, element("b", {}, words[name]), text));
    }
    const copy = LBP.button(words.copy, () => navigator.clipboard?.writeText(texts.map(([, value]) => value).join("\n\n")).then(() => LBP.say(words.copied)));
    const drop = LBP.button(LBP.words.drop, () => { try { localStorage.removeItem(key); } catch { /* nothing is kept */ } made.remove(); });
    body.append(element("div", { className: "row" }, copy, drop));
    made.dataset.state = "warn";
    made.append(body);
    return made;
  };
  const show = () => {
    $("#kept")?.remove();
    if ($("#claim[data-claim]") || $("form[data-edit]")) return;
    const notes = kept().map(note);
    if (notes.length) $("#pane .scroll")?.prepend(element("section", { className: "part", id: "kept" }, ...notes));
  };
  /* After desk.js has forgotten what this request brought to the server. */
  const soon = () => setTimeout(show);
  addEventListener("htmx:afterSettle", soon);
  addEventListener("htmx:afterRequest", soon);
  show();
})();
