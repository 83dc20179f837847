// One request in detail, and what differs from another one.

import { useEffect, useState } from "preact/hooks";

import type { Comparison, GroupTokens, Phase, RequestDetail } from "../../packages/loader/src/boundary.js";
import { ask } from "./host.js";
import { l10n, said, shownTime } from "./l10n.js";

export function Request({ id, version }: { readonly id: string; readonly version: number }) {
  const [detail, setDetail] = useState<RequestDetail | null>();
  const [isRecorded, setIsRecorded] = useState(false);
  useEffect(() => {
    void ask<RequestDetail | null>({ request: id }).then(setDetail);
    void ask<boolean>({ isRecorded: id }).then(setIsRecorded);
  }, [id, version]);
  if (detail === undefined || detail === null) {
    return null;
  }
  const { facts, forecast, cache, phases, calls, groups, pieces } = detail;
  return (
    // The region scrolls, so it can be reached with the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
    <section class="request" aria-label={l10n.t("Request")} tabIndex={0}>
      <h2>
        {said([detail.title])} <span class="time">{shownTime(detail.startedMs)}</span>
      </h2>
      <dl class="facts">
        {facts.map(({ label, value }, index) => (
          <div key={index}>
            <dt>{said([label])}</dt>
            <dd>{said(value, ", ")}</dd>
          </div>
        ))}
      </dl>
      {phases.length === 0 ? null : <Timeline phases={phases} calls={calls} />}
      {groups.length === 0 ? null : <Tokens groups={groups} />}
      {cache.length === 0 ? null : (
        <>
          <h3>{l10n.t("Prompt cache")}</h3>
          <p>{said(cache)}</p>
        </>
      )}
      {forecast.length === 0 ? null : (
        <>
          <h3>{l10n.t("Forecast")}</h3>
          <table>
            <thead>
              <tr>
                <td />
                <th scope="col">{l10n.t("Expected")}</th>
                <th scope="col">{l10n.t("Actual")}</th>
              </tr>
            </thead>
            <tbody>
              {forecast.map(({ label, expected, actual }) => (
                <tr key={label.code}>
                  <th scope="row">{said([label])}</th>
                  <td>{said([expected])}</td>
                  <td>{actual === null ? "–" : said([actual])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {isRecorded ? (
        <p>
          <button type="button" onClick={() => void ask({ export: id })}>
            {l10n.t("Export as a File")}
          </button>
        </p>
      ) : null}
      <Compared detail={detail} />
      {pieces.length === 0 ? null : (
        <details>
          <summary>{l10n.t("Everything that was sent ({0})", pieces.length)}</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">{l10n.t("Piece")}</th>
                <th scope="col">{l10n.t("Tokens")}</th>
              </tr>
            </thead>
            <tbody>
              {pieces.map(({ title, tokens, group, isCached }, index) => (
                <tr key={index}>
                  <td>
                    <span class={`swatch ${group} ${isCached ? "cached" : ""}`} aria-hidden="true" />
                    {said([title])}
                  </td>
                  <td>{isCached ? l10n.t("{0}, cached", said([tokens])) : said([tokens])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}

function Timeline({ phases, calls }: { readonly phases: readonly Phase[]; readonly calls: readonly Phase[] }) {
  const end = phases.at(-1)?.toMs ?? 0;
  const share = (ms: number): string => `${(100 * ms) / Math.max(1, end)}%`;
  return (
    <>
      <h3>{l10n.t("Timeline")}</h3>
      <div class="bar" aria-hidden="true">
        {phases.map(({ label, fromMs, toMs }) => (
          <div key={label.code} class={`segment ${label.code}`} style={{ width: share(toMs - fromMs) }} />
        ))}
        {calls.map(({ fromMs, label }) => (
          <div key={`${fromMs} ${label.args[0]}`} class="call" style={{ left: share(fromMs) }} />
        ))}
      </div>
      <ul class="legend">
        {phases.map(({ label, time }) => (
          <li key={label.code}>
            <span class={`swatch ${label.code}`} aria-hidden="true" />
            {said([label])}: {said([time])}
          </li>
        ))}
        {calls.map(({ label, time, fromMs }) => (
          <li key={`${fromMs} ${label.args[0]}`}>
            <span class="swatch call" aria-hidden="true" />
            {l10n.t("Call of {0} after {1}", said([label]), said([time]))}
          </li>
        ))}
      </ul>
    </>
  );
}

function Tokens({ groups }: { readonly groups: readonly GroupTokens[] }) {
  const all = groups.reduce((sum, { tokens }) => sum + tokens, 0);
  return (
    <>
      <h3>{l10n.t("Tokens")}</h3>
      <div class="bar" aria-hidden="true">
        {groups.flatMap(({ group, tokens, cached }) =>
          [cached, tokens - cached].map((part, index) =>
            part === 0 ? null : (
              <div
                key={`${group} ${index}`}
                class={`segment ${group} ${index === 0 ? "cached" : ""}`}
                style={{ width: `${(100 * part) / all}%` }}
              />
            ),
          ),
        )}
      </div>
      <ul class="legend">
        {groups.map(({ group, label, text }) => (
          <li key={group}>
            <span class={`swatch ${group}`} aria-hidden="true" />
            {said([label])}: {said(text, ", ")}
          </li>
        ))}
      </ul>
    </>
  );
}

const SIGNS = { same: "=", added: "+", removed: "−", changed: "≠" };

function Compared({ detail: { id, startedMs, others, continues } }: { readonly detail: RequestDetail }) {
  const [other, setOther] = useState("");
  const [comparison, setComparison] = useState<Comparison | null>(null);
  useEffect(() => {
    const older = others.find((request) => request.id === other);
    if (older === undefined) {
      setComparison(null);
      return;
    }
    const pair: [string, string] = older.startedMs <= startedMs ? [other, id] : [id, other];
    void ask<Comparison | null>({ compare: pair }).then(setComparison);
  }, [other, id, startedMs, others]);
  if (others.length === 0) {
    return null;
  }
  const changes = { same: l10n.t("same"), added: l10n.t("added"), removed: l10n.t("removed"), changed: l10n.t("changed") };
  return (
    <>
      <h3>{l10n.t("Comparison")}</h3>
      <label>
        {l10n.t("Compare with")}{" "}
        <select value={other} onChange={({ currentTarget }) => setOther(currentTarget.value)}>
          <option value="">–</option>
          {others.map((request) => (
            <option key={request.id} value={request.id}>
              {said([request.title])}, {shownTime(request.startedMs)}
              {request.id === continues ? ` (${l10n.t("the one before")})` : ""}
            </option>
          ))}
        </select>
      </label>
      {comparison === null ? null : (
        <>
          <p role="status">{said(comparison.summary)}</p>
          <table class="compared">
            <thead>
              <tr>
                <th scope="col">{l10n.t("Piece")}</th>
                <th scope="col">{l10n.t("Before")}</th>
                <th scope="col">{l10n.t("After")}</th>
              </tr>
            </thead>
            <tbody>
              {comparison.rows.map(({ change, title, before, after }, index) => (
                <tr key={index} class={change}>
                  <td>
                    <span class="sign" aria-hidden="true">
                      {SIGNS[change]}
                    </span>{" "}
                    {said([title])}
                    <span class="hidden">: {changes[change]}</span>
                  </td>
                  <td>{before === null ? "" : said([before])}</td>
                  <td>{after === null ? "" : said([after])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}
