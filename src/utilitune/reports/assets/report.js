"use strict";
/* The whole page of one run; the report shows it once, the live page keeps it up to date. */
U.page = (doc, fetchOne) => {
  const main = U.el("div");
  const parts = {};
  const toc = U.el("nav", { class: "toc noprint", "aria-label": "Sections" });
  parts.hero = U.hero(doc);
  main.append(toc, parts.hero.node);
  toc.append(U.el("a", { href: "#numbers", text: "Numbers" }));
  const add = (node, title) => { main.append(node); if (title) toc.append(U.el("a", { href: `#${node.id}`, text: title })); return node; };
  if (doc.answer) {
    const row = U.el("div", { class: "columns" });
    parts.promise = U.promiseCard(doc);
    parts.answer = U.answerCard(doc);
    row.append(parts.promise, parts.answer);
    main.append(row);
    toc.append(U.el("a", { href: "#promise", text: "Promise" }), U.el("a", { href: "#answer", text: "Answer" }));
  }
  const charts = U.el("div", { class: "columns" });
  const trajectory = U.lineChart(U.trajectorySpec(doc));
  parts.trajectory = trajectory;
  charts.append(U.card("progress", "What was proved after how much time", U.legend([["ε", "epsilon"], ["γ", "gamma"]]), trajectory.node));
  const shown = doc.answer ? [...new Set([doc.answer.number, 0])] : [0];
  parts.distribution = U.lineChart(U.distributionSpec(doc, shown));
  parts.legend = U.distributionLegend(doc);
  const worth = doc.distributions.of === "worth";
  charts.append(U.card("distribution", worth ? "What runs are worth" : "How long runs take, and what that is worth",
    parts.legend, parts.distribution.node,
    U.soft(worth ? "Share of runs worth at most so much, on the training instances: lower and further right is better." : "Share of runs finished within a time, on the training instances; runs that were stopped count as still going on (Kaplan–Meier).")));
  main.append(charts);
  toc.append(U.el("a", { href: "#progress", text: "Progress" }), U.el("a", { href: "#distribution", text: "Runtimes" }));
  if (doc.answer && doc.objective === "runtime") add(U.heldoutCard(doc), "Held-out");
  parts.model = new U.Configurations(doc, fetchOne);
  add(U.configurationsCard(doc, parts.model), "Configurations");
  parts.importance = add(U.importanceCard(doc), "Importance");
  parts.parameters = add(U.parametersCard(doc, parts.model), "Parameters");
  const lower = U.el("div", { class: "columns" });
  parts.captimes = U.captimesCard(doc);
  parts.failures = U.failuresCard(doc);
  lower.append(parts.captimes.node, parts.failures);
  main.append(lower);
  toc.append(U.el("a", { href: "#captimes", text: "Captimes" }), U.el("a", { href: "#failures", text: "Failures" }));
  parts.timeline = U.timelineCard(doc);
  add(parts.timeline.node, "Workers");
  add(U.aboutCard(doc), "Scenario");
  return { node: main, parts };
};

U.header = (doc, ...extra) => {
  const badge = U.el("span", { class: `badge${doc && doc.at_work ? " work" : ""}`, text: doc ? (doc.at_work ? (doc.paused ? "paused" : "at work") : "not at work") : "" });
  return U.el("header", { class: "top" }, U.el("div", {}, U.el("span", { class: "brand" }, U.el("b", { text: "utili" }), "tune"),
    U.el("h1", { text: doc ? doc.name : "" }), doc ? badge : null, U.el("span", { class: "spacer" }), ...extra, U.theme()));
};

U.report = () => {
  const doc = JSON.parse(document.getElementById("facts").textContent);
  document.title = `${doc.name} – Utilitune report`;
  const print = U.el("button", { type: "button", text: "Print", class: "noprint", onclick: () => window.print() });
  const main = document.querySelector("main");
  const page = U.page(doc, null);
  document.querySelector("header.top")?.remove();
  document.body.prepend(U.header(doc, print));
  U.clear(main).append(U.el("p", { class: "soft small", text: `Written ${U.moment(doc.looked_at)}. ${doc.at_work ? "" : doc.state}` }), page.node);
};

if (document.getElementById("facts")) U.report();
