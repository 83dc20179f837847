// The inspector: what was sent, what it cost and why. The extension answers its questions with data of the core; no
// network request leaves this page.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { TreeRow } from "../../packages/loader/src/boundary.js";
import { ask, listen, savedState, saveState, type ViewState } from "./host.js";
import { l10n } from "./l10n.js";
import type { Start } from "./protocol.js";
import { Request } from "./request.js";
import { Tree } from "./tree.js";
import { Usage } from "./usage.js";

function Inspector() {
  const [{ tab, selected }, setState] = useState(savedState);
  const [version, setVersion] = useState(0);
  const [rows, setRows] = useState<readonly TreeRow[]>();
  const change = (changed: Partial<ViewState>): void => setState((state) => ({ ...state, ...changed }));
  useEffect(() => saveState({ tab, selected }), [tab, selected]);
  useEffect(
    () => listen({ onChange: () => setVersion((version) => version + 1), onShow: (tab) => setState((state) => ({ ...state, tab })) }),
    [],
  );
  useEffect(() => {
    void ask<readonly TreeRow[]>({ tree: {} }).then(setRows);
  }, [version]);
  const isKnown = selected !== null && rows?.some(({ request }) => request === selected) === true;
  const shown = isKnown ? selected : (newestRequest(rows) ?? null);
  const tabs = { requests: l10n.t("Requests"), usage: l10n.t("Usage") };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const other = tab === "requests" ? "usage" : "requests";
      change({ tab: other });
      document.getElementById(`tab-${other}`)?.focus();
    }
  };
  return (
    <main>
      <h1 class="hidden">Sluice</h1>
      <div role="tablist" aria-label="Sluice" class="tabs" onKeyDown={onKeyDown}>
        {Object.entries(tabs).map(([name, label]) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab === name}
            aria-controls="panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => change({ tab: name as ViewState["tab"] })}
          >
            {label}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class={tab}>
        {tab === "usage" ? (
          <Usage version={version} />
        ) : rows === undefined ? null : rows.length === 0 ? (
          <p class="empty">{l10n.t("There is no usage yet. Ask a Sluice model something in the chat.")}</p>
        ) : (
          <>
            <Tree rows={rows} selected={shown} onSelect={(request) => change({ selected: request })} />
            {shown === null ? null : <Request key={shown} id={shown} version={version} />}
          </>
        )}
      </div>
    </main>
  );
}

/** Returns the last request of the newest conversation. */
function newestRequest(rows: readonly TreeRow[] | undefined): string | null | undefined {
  const next = rows?.findIndex(({ depth }, index) => index > 0 && depth === 0) ?? -1;
  return rows?.slice(0, next === -1 ? undefined : next).findLast(({ request }) => request !== null)?.request;
}

const start = await ask<Start>({ start: null });
l10n.use(start);
document.documentElement.lang = start.language;
if (start.tab !== null) {
  saveState({ ...savedState(), tab: start.tab });
}
render(<Inspector />, document.body);
