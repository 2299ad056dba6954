"use strict";
/* The live page: a list of runs side by side, one run in full, kept up to date by server-sent events. */
(() => {
  const main = document.querySelector("main");
  const theme = U.theme();
  const runs = [];
  let view = null;
  let token = null;
  const REST = 200, LONGEST_REST_MS = 15000;

  const takeToken = () => {
    const found = /[#&]token=([\w-]+)/.exec(location.hash);
    if (found) {
      try { sessionStorage.setItem("utilitune-token", found[1]); } catch { /* it then lasts as long as the page */ }
      token = found[1];
      history.replaceState(null, "", location.pathname + location.hash.replace(/[#&]?token=[\w-]+/, ""));
    }
    try { token = token || sessionStorage.getItem("utilitune-token"); } catch { /* the same */ }
  };

  const get = async (address) => {
    const answer = await fetch(address, { headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };

  const header = (run, number) => {
    const places = [U.el("a", { class: "small", href: "/designer", text: "Utility designer" })];
    if (runs.length > 1 && run) places.push(U.el("a", { class: "small", href: "#/", text: "All runs" }));
    const controls = run && run.at_work && token ? wishes(run, number) : [];
    const status = U.el("span", { class: "soft small", id: "freshness", role: "status" });
    const top = U.header(run, status, ...controls, ...places);
    top.querySelector("button:last-of-type")?.remove();
    top.firstChild.append(theme);
    document.querySelector("header.top")?.remove();
    document.body.prepend(top);
  };

  const wish = async (number, name, settings) => {
    const answer = await fetch(`/api/runs/${number}/${name}`, { method: "POST", headers: { "x-utilitune-token": token, "content-type": "application/json" }, body: JSON.stringify(settings || {}) });
    const text = await answer.text();
    freshness(answer.ok ? JSON.parse(text).said : text);
  };

  const wishes = (run, number) => {
    const button = (text, act) => U.el("button", { type: "button", text, onclick: act });
    const list = [];
    list.push(run.paused ? button("Go on", () => wish(number, "go-on")) : button("Pause", () => wish(number, "pause")));
    list.push(button("Extend", () => extend(run, number)));
    list.push(button(run.stopping ? "Stopping …" : "Stop", () => { if (window.confirm(`Stop ${run.name}? Its answer stays valid, and it can be started again.`)) wish(number, "stop"); }));
    return list;
  };

  const extend = (run, number) => {
    const text = window.prompt("How much more time on the clock, such as 30m or 2h?", "30m");
    if (text) wish(number, "extend", { wall_time: text });
  };

  const freshness = (text) => { const node = document.getElementById("freshness"); if (node) node.textContent = text; };

  const runCard = (run, number) => {
    const card = U.el("a", { class: "runcard", href: `#/run/${number}` });
    card.append(U.el("div", { class: "bar" }, U.el("b", { text: run.name || run.folder }), U.el("span", { class: `badge${run.at_work ? " work" : ""}`, text: run.at_work ? "at work" : "not at work" })));
    if (run.problem) { card.append(U.el("div", { class: "note warn", text: run.problem })); return card; }
    if (!run.answer) { card.append(U.soft(U.noAnswer(run))); return card; }
    card.append(U.utilityScale(run).node);
    if (!run.promise.refusal) {
      card.append(U.el("p", { class: "small" },
        U.el("span", { text: `ε = ${U.enough(run.promise.epsilon)}`, css: { color: "var(--epsilon)" } }),
        run.promise.gamma === null ? null : U.el("span", { text: `, γ = ${U.enough(run.promise.gamma)}`, css: { color: "var(--gamma)" } }),
        `, δ = ${U.number(run.promise.delta)}`));
      card.append(U.lineChart({ ...U.trajectorySpec(run), height: 130 }).node);
    } else card.append(U.soft(run.promise.refusal));
    card.append(U.el("p", { class: "soft small", text: `${U.some(run.progress.runs, "run")}, ${U.some(run.progress.configurations, "configuration")} compared, ${U.time(run.elapsed_s)} on the clock` }));
    card.append(U.el("p", { class: "soft small", text: run.folder }));
    return card;
  };

  const showList = () => {
    view = { kind: "list", cards: [] };
    document.title = "Utilitune";
    header(null);
    const grid = U.el("div", { class: "runs" });
    runs.forEach((run, number) => { const card = runCard(run, number); view.cards[number] = card; grid.append(card); });
    U.clear(main).append(U.el("h2", { text: "Runs" }), grid);
    if (!runs.length) main.append(U.el("p", {}, "No runs are shown: name them when you start the server, as in ", U.el("code", { text: "utilitune serve scenario.run" }), ". The ", U.el("a", { href: "/designer", text: "utility designer" }), " works without any."));
  };

  const showRun = async (number) => {
    const mine = { kind: "run", number };
    view = mine;
    document.title = `${runs[number].name || "Run"} – Utilitune`;
    header(runs[number], number);
    if (runs[number].problem) {
      U.clear(main).append(U.el("div", { class: "note warn", text: runs[number].problem }));
      mine.waiting = true;
      return;
    }
    if (runs[number].answer) U.clear(main).append(U.hero(runs[number]).node, U.soft(`Reading ${U.some(Object.values(runs[number].runs_by_status || {}).reduce((sum, count) => sum + count, 0), "run")} …`));
    const doc = await get(`/api/runs/${number}`);
    if (view !== mine) return;
    if (!doc.complete) { mine.waiting = true; return; }
    mine.doc = doc;
    mine.revision = doc.digest_revision;
    mine.page = U.page(doc, (which) => get(`/api/runs/${number}/configurations/${which}`).catch(() => null));
    U.clear(main).append(mine.page.node);
    main.dataset.ready = String(doc.revision);
    showImportance(mine);
    if (nobodyWorks()) workOut(mine);
  };

  /* How much parameters matter takes seconds of a core. While a run is at work it is worked out only if somebody asks for it. */
  const nobodyWorks = () => runs.every((run) => !run.at_work);

  const showImportance = (mine) => {
    swap(mine.page.parts, "importance", U.importanceCard(mine.doc));
    mine.importanceLine = U.el("div", { class: "bar" });
    mine.page.parts.importance.append(mine.importanceLine);
    tellImportance(mine);
  };

  const tellImportance = (mine) => {
    const found = mine.doc.importance, line = mine.importanceLine;
    const known = Object.values(mine.doc.runs_by_status).reduce((sum, count) => sum + count, 0);
    const age_s = 60 * Math.round((mine.doc.looked_at - found.made_at) / 60);
    const ago = age_s > 0 ? `${U.time(age_s)} ago` : "just now";
    const [text, ask] = mine.workingOut ? ["Being worked out …", ""]
      : !found.runs ? ["Not worked out yet: it takes a core for some seconds, so it waits until no run is at work.", "Work out now"]
        : [`From ${U.some(found.runs, "run")}, ${ago}.`, known > found.runs ? "Work out again" : ""];
    if (line.dataset.said === text + ask) return;
    line.dataset.said = text + ask;
    U.clear(line).append(U.soft(text), ...(ask ? [U.el("button", { type: "button", text: ask, onclick: () => workOut(mine) })] : []));
  };

  const workOut = async (mine) => {
    if (mine.workingOut) return;
    mine.workingOut = true;
    tellImportance(mine);
    try {
      mine.doc.importance = await get(`/api/runs/${mine.number}/importance`);
    } catch { /* it can be asked for again */ }
    mine.workingOut = false;
    if (view !== mine) return;
    showImportance(mine);
    swap(mine.page.parts, "parameters", U.parametersCard(mine.doc, mine.page.parts.model));
  };

  const swap = (parts, name, node) => { parts[name].replaceWith(node); parts[name] = node; };

  const update = (news) => {
    const mine = view;
    if (!mine.page) { if (mine.waiting) showRun(mine.number); return; }
    if (news.since > mine.revision || !news.complete || news.opened !== mine.doc.opened || !mine.doc.answer !== !news.answer) { showRun(mine.number); return; }
    const { parts } = mine.page;
    const before = mine.doc;
    const { configurations, ...rest } = news;
    mine.doc = { ...before, ...rest };
    mine.revision = news.digest_revision;
    parts.hero.update(mine.doc);
    if (news.answer) {
      if (before.promise.sentence !== news.promise.sentence) swap(parts, "promise", U.promiseCard(mine.doc));
      if (before.answer.number !== news.answer.number) { swap(parts, "answer", U.answerCard(mine.doc)); swap(parts, "legend", U.distributionLegend(mine.doc)); }
      parts.distribution.update(U.distributionSpec(mine.doc, [...new Set([news.answer.number, 0])]));
    }
    parts.trajectory.update(U.trajectorySpec(mine.doc));
    parts.model.take(configurations, news.answer ? news.answer.number : 0);
    parts.captimes.update(mine.doc);
    if (JSON.stringify(before.failures) !== JSON.stringify(news.failures)) swap(parts, "failures", U.failuresCard(mine.doc));
    parts.timeline.update(news.timeline);
    if (before.at_work !== news.at_work || before.stopping !== news.stopping || before.paused !== news.paused) header(mine.doc, mine.number);
    if (before.at_work && nobodyWorks()) workOut(mine); else tellImportance(mine);
    main.dataset.ready = String(news.revision);
  };

  const route = () => {
    takeToken();
    const found = /^#\/run\/(\d+)$/.exec(location.hash);
    const number = found ? Number(found[1]) : runs.length === 1 ? 0 : null;
    if (number !== null && runs[number]) { if (!view || view.kind !== "run" || view.number !== number) showRun(number); }
    else if (!location.hash || location.hash.startsWith("#/")) showList();
  };

  /* News are put together and shown now and then: the page rests two hundred times longer than it works, and does nothing while
     nobody sees it. A run on the same machine needs the cores more. */
  const pending = new Map();
  let restUntil = 0, timer = 0, drawnBefore = 0;

  const together = (older, newer) => {
    if (!older || !older.configurations || !newer.configurations) return newer;
    const lines = new Map();
    for (const { rows, values } of [older.configurations, newer.configurations]) rows.forEach((row, index) => lines.set(row[0], [row, values[index]]));
    const configurations = { ...newer.configurations, rows: [...lines.values()].map(([row]) => row), values: [...lines.values()].map(([, value]) => value) };
    return { ...newer, since: older.since, configurations };
  };

  const show = (news) => {
    const { configurations, ...overview } = news;
    runs[news.run] = { ...runs[news.run], ...overview };
    if (view && view.kind === "run" && view.number === news.run) update(news);
    else if (view && view.kind === "list" && view.cards[news.run]) { const card = runCard(runs[news.run], news.run); view.cards[news.run].replaceWith(card); view.cards[news.run] = card; }
  };

  const showAll = () => {
    const began = performance.now();
    for (const news of pending.values()) show(news);
    pending.clear();
    freshness(`updated ${new Date().toLocaleTimeString("en-GB")}`);
    const took = performance.now() - began;
    document.documentElement.dataset.updateMs = took.toFixed(1);
    restUntil = performance.now() + Math.min(LONGEST_REST_MS, REST * (took + U.drawnMs - drawnBefore));
    drawnBefore = U.drawnMs;
  };

  const soon = () => {
    clearTimeout(timer);
    if (pending.size && !document.hidden) timer = setTimeout(showAll, Math.max(0, restUntil - performance.now()));
  };

  const listen = () => {
    const events = new EventSource("/api/events");
    events.onmessage = (message) => {
      const news = JSON.parse(message.data);
      pending.set(news.run, together(pending.get(news.run), news));
      soon();
    };
    events.onerror = () => freshness("no connection; trying again");
    document.addEventListener("visibilitychange", soon);
  };

  const begin = async () => {
    try {
      runs.push(...await get("/api/runs"));
    } catch (error) {
      U.clear(main).append(U.el("p", { text: `The server does not answer: ${error.message}` }));
      return;
    }
    route();
    window.addEventListener("hashchange", route);
    listen();
  };
  begin();
})();
