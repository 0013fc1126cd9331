/** The page at `/`: what runs here and whether it is well. Works without scripts but for the health line; nothing from elsewhere. */

/** Addresses are relative, so that the page works below a path of a proxy, too. `{{version}}` is the build's. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Skep</title>
<link rel="icon" href="home/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="home/style.css">
</head>
<body>
<main>
<h1>Skep</h1>
<p>A team of AI agents in one file. This is a Skep server, version {{version}}.</p>
<h2 id="health">Health</h2>
<p role="status" id="state" aria-labelledby="health">Open <a href="readyz">readyz</a> to see whether it is well.</p>
<dl id="facts" hidden></dl>
<h2>Where to go</h2>
<ul>
<li><a href="docs">The API</a>, to read and to try in the browser</li>
<li><a href="openapi.json">The API as an OpenAPI 3.1 document</a></li>
<li><a href="v1/status">Status as JSON</a></li>
</ul>
<h2>From a terminal</h2>
<pre><code>skep run hello "Greet me" --follow
skep runs
skep doctor
skep help</code></pre>
<p>There is no dashboard in this version yet. Everything is reached through the command line and the API.</p>
</main>
<script src="home/script.js" defer></script>
</body>
</html>
`;

export const STYLE = `:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0; padding: 2rem 1rem; background: Canvas; color: CanvasText; }
main { max-width: 42rem; margin: 0 auto; }
h1 { font-size: 1.8rem; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; }
p, ul, dl { margin: .25rem 0; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; }
a { color: LinkText; }
a:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
#state[data-state=ok]::before { content: "\\2713\\00a0"; }
#state[data-state=bad]::before { content: "\\2717\\00a0"; }
`;

export const SCRIPT = `const state = document.getElementById("state");
const facts = document.getElementById("facts");
const say = (text, mark) => { state.textContent = text; state.dataset.state = mark; };
const fact = (name, value) => {
  const term = document.createElement("dt");
  const detail = document.createElement("dd");
  term.textContent = name;
  detail.textContent = value;
  facts.append(term, detail);
};
async function look() {
  const ready = await fetch("readyz");
  const status = await (await fetch("v1/status")).json();
  facts.replaceChildren();
  if (!ready.ok) say((await ready.json()).detail, "bad");
  else if (status.status !== "ok") say("It answers, and a part it needs does not: see skep doctor.", "bad");
  else say("It is well.", "ok");
  // Only whoever may know more is told more.
  if (status.sandbox) fact("Agents work in", status.sandbox.kind === "docker" ? "containers" : "this server's process, " + (status.sandbox.shell ? "with a shell" : "without a shell"));
  if (status.counts) {
    fact("Active runs", status.counts.active_runs);
    fact("Runs in the last hour", status.counts.runs_last_hour);
    fact("Agents", status.counts.agents);
    fact("Pipelines", status.counts.pipelines);
    fact("Projects", status.counts.projects);
  }
  facts.hidden = facts.childElementCount === 0;
}
const again = () => look().catch(() => { facts.hidden = true; say("The server does not answer.", "bad"); });
again();
setInterval(() => { if (!document.hidden) again(); }, 10000);
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" stroke="#c98a1b" stroke-width="3" stroke-linecap="round"><path d="M12 7h8M9 13h14M7 19h18M6 25h20"/></g></svg>`;
