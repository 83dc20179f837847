// Usage over time, by day or month and by model, with the limits, and the credit that is left.

import { useEffect, useState } from "preact/hooks";

import type { HistoryPeriod, HistoryRow, LimitState } from "../../packages/loader/src/boundary.js";
import { ask } from "./host.js";
import { dollars, l10n, said } from "./l10n.js";
import type { Credit, Usage as UsageData } from "./protocol.js";

/** How many days or months the chart shows, and how many models have a colour of their own. */
const MAX_COLUMNS = 31;
const MAX_MODELS = 5;
/** From this share of a limit on, it is near. */
const NEAR = 0.8;

export function Usage({ version }: { readonly version: number }) {
  const [period, setPeriod] = useState<HistoryPeriod>("day");
  const [data, setData] = useState<UsageData>();
  const [credits, setCredits] = useState<readonly Credit[]>([]);
  useEffect(() => {
    void ask<UsageData>({ usage: period }).then(setData);
  }, [period, version]);
  useEffect(() => {
    void ask<readonly Credit[]>({ credits: null }).then(setCredits);
  }, [version]);
  const periods: { readonly [period in HistoryPeriod]: string } = { day: l10n.t("By day"), month: l10n.t("By month") };
  return (
    // The region scrolls, so it can be reached with the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
    <section class="usage-page" aria-label={l10n.t("Usage")} tabIndex={0}>
      <fieldset class="actions">
        <legend class="hidden">{l10n.t("Period")}</legend>
        {Object.entries(periods).map(([name, label]) => (
          <label key={name}>
            <input type="radio" name="period" checked={period === name} onChange={() => setPeriod(name as HistoryPeriod)} /> {label}
          </label>
        ))}
      </fieldset>
      {data === undefined ? null : data.rows.length === 0 ? (
        <>
          <p class="empty">{l10n.t("There is no usage yet. Ask a Sluice model something in the chat.")}</p>
          <Limits limits={data.limits} />
          <Credits credits={credits} />
        </>
      ) : (
        <>
          <Chart {...data} period={period} />
          <Limits limits={data.limits} />
          <Credits credits={credits} />
          <table class="periods">
            <caption class="hidden">{periods[period]}</caption>
            <thead class="hidden">
              <tr>
                <th scope="col">{l10n.t("Model")}</th>
                <th scope="col">{l10n.t("Usage")}</th>
              </tr>
            </thead>
            {byPeriod(data.rows).map(([when, rows]) => (
              <tbody key={when}>
                <tr>
                  <th scope="rowgroup" colSpan={2}>
                    {when}
                  </th>
                </tr>
                {rows.map(({ model, details }) => (
                  <tr key={model}>
                    <th scope="row">{model}</th>
                    <td>{said(details, " · ")}</td>
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
          <p class="note">{l10n.t("Days are counted in UTC, as gateways bill them")}</p>
        </>
      )}
    </section>
  );
}

/** Returns the rows of each day or month, the newest first. */
function byPeriod(rows: readonly HistoryRow[]): [when: string, rows: HistoryRow[]][] {
  const periods = new Map<string, HistoryRow[]>();
  for (const row of rows) {
    periods.set(row.when, [...(periods.get(row.when) ?? []), row]);
  }
  return [...periods];
}

function Credits({ credits }: { readonly credits: readonly Credit[] }) {
  if (credits.length === 0) {
    return null;
  }
  return (
    <>
      <h2>{l10n.t("Credit")}</h2>
      {credits.map(({ server, text }) => (
        <p key={server}>
          {server}: {said([text])}
        </p>
      ))}
    </>
  );
}

/** How much of each limit is used, by all windows, with what running requests may cost. */
function Limits({ limits }: { readonly limits: readonly LimitState[] }) {
  if (limits.length === 0) {
    return null;
  }
  const name = ({ period, model }: LimitState): string => {
    const label = period === "day" ? l10n.t("Today") : l10n.t("This month");
    return model === null ? label : `${label}, ${model}`;
  };
  return (
    <>
      <h2>{l10n.t("Limits")}</h2>
      <ul class="limits">
        {limits.map((state) => (
          <li key={name(state)}>
            <span>{name(state)}</span>
            <span>{l10n.t("{0} of {1}", dollars(state.used), dollars(state.limit))}</span>
            <div class="bar" aria-hidden="true">
              <div
                class={`segment ${state.used >= state.limit ? "over" : state.used >= state.limit * NEAR ? "near" : "below"}`}
                style={{ width: `${Math.min(100, (100 * state.used) / state.limit)}%` }}
              />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Costs, or tokens if nothing is known to cost anything. The table below says the same in words. */
function Chart({ rows, limits, period }: UsageData & { readonly period: HistoryPeriod }) {
  const hasCosts = rows.some(({ totals }) => totals.cost > 0);
  const amount = ({ totals }: HistoryRow): number => (hasCosts ? totals.cost : totals.inputTokens + totals.outputTokens);
  const shown = byPeriod(rows).slice(0, MAX_COLUMNS).reverse();
  const byModel = new Map<string, number>();
  for (const row of shown.flatMap(([, models]) => models)) {
    byModel.set(row.model, (byModel.get(row.model) ?? 0) + amount(row));
  }
  const models = [...byModel].sort(([, a], [, b]) => b - a).map(([model]) => model);
  const colour = (model: string): string => `model-${Math.min(MAX_MODELS, models.indexOf(model))}`;
  const limit = limits.find((state) => state.period === period && state.model === null)?.limit;
  const drawn = hasCosts && limit !== undefined ? limit : null;
  const highest = Math.max(drawn ?? 0, ...shown.map(([, models]) => models.reduce((sum, row) => sum + amount(row), 0)));
  const height = (value: number): string => `${(100 * value) / Math.max(highest, Number.MIN_VALUE)}%`;
  const text = (value: number): string =>
    hasCosts ? dollars(value) : value === 1 ? l10n.t("1 token") : l10n.t("{0} tokens", value.toLocaleString());
  return (
    <figure>
      <div class="chart" aria-hidden="true">
        <span class="highest">{text(highest)}</span>
        {drawn === null ? null : (
          <div class="limit" style={{ bottom: height(drawn) }}>
            <span>{l10n.t("Limit {0}", text(drawn))}</span>
          </div>
        )}
        {shown.map(([when, models]) => (
          <div key={when} class="column" title={when}>
            {models.map((row) => (
              <div
                key={row.model}
                class={`segment ${colour(row.model)}`}
                style={{ height: height(amount(row)) }}
                title={`${row.model}: ${text(amount(row))}`}
              />
            ))}
          </div>
        ))}
      </div>
      <div class="axis" aria-hidden="true">
        <span>{shown[0]?.[0]}</span>
        <span>{shown.length > 1 ? shown.at(-1)?.[0] : ""}</span>
      </div>
      <figcaption>
        <ul class="legend">
          {models.slice(0, MAX_MODELS).map((model) => (
            <li key={model}>
              <span class={`swatch ${colour(model)}`} aria-hidden="true" />
              {model}: {text(byModel.get(model) ?? 0)}
            </li>
          ))}
          {models.length <= MAX_MODELS ? null : (
            <li>
              <span class={`swatch model-${MAX_MODELS}`} aria-hidden="true" />
              {l10n.t("Others")}
            </li>
          )}
        </ul>
      </figcaption>
    </figure>
  );
}
