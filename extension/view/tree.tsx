// The tree of conversations. Only the rows on the screen are in the page, so that thousands can be listed.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { TreeRow } from "../../packages/loader/src/boundary.js";
import { l10n, said, shownTime } from "./l10n.js";

const ROW_HEIGHT = 40;
/** How many rows are kept above and below those on the screen. */
const BEYOND = 8;

interface Shown extends TreeRow {
  readonly hasChildren: boolean;
  readonly position: number;
  readonly siblings: number;
}

interface Properties {
  readonly rows: readonly TreeRow[];
  readonly selected: string | null;
  onSelect(request: string): void;
}

export function Tree({ rows, selected, onSelect }: Properties) {
  const list = useRef<HTMLDivElement>(null);
  // Everything is collapsed at first, except the newest conversation and its last turn.
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [allOpen, setAllOpen] = useState<boolean>();
  const [active, setActive] = useState<string>();
  const [scroll, setScroll] = useState({ top: 0, height: 0 });
  const open = useMemo(() => openRows(rows, toggled, allOpen), [rows, toggled, allOpen]);
  const shown = useMemo(() => visible(rows, open), [rows, open]);
  const current = active ?? shown.find(({ request }) => request !== null && request === selected)?.id ?? shown[0]?.id;
  const index = Math.max(
    0,
    shown.findIndex(({ id }) => id === current),
  );

  useEffect(() => {
    const element = list.current!;
    const measure = (): void => setScroll({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  const toggle = ({ id }: TreeRow): void => setToggled((before) => (before.has(id) ? without(before, id) : new Set(before).add(id)));
  const goTo = (row: Shown | undefined): void => {
    if (row === undefined) return;
    setActive(row.id);
    if (row.request !== null) onSelect(row.request);
    const element = list.current!;
    const top = shown.indexOf(row) * ROW_HEIGHT;
    element.scrollTop = Math.min(top, Math.max(element.scrollTop, top + ROW_HEIGHT - element.clientHeight));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = shown[index];
    if (row === undefined) return;
    const isOpen = open.has(row.id);
    const parent = shown.slice(0, index).findLast(({ depth }) => depth < row.depth);
    const keys: { [key: string]: () => void } = {
      ArrowDown: () => goTo(shown[index + 1]),
      ArrowUp: () => goTo(shown[index - 1]),
      Home: () => goTo(shown[0]),
      End: () => goTo(shown.at(-1)),
      ArrowRight: () => (row.hasChildren && !isOpen ? toggle(row) : goTo(row.hasChildren ? shown[index + 1] : undefined)),
      ArrowLeft: () => (row.hasChildren && isOpen ? toggle(row) : goTo(parent)),
      Enter: () => (row.hasChildren ? toggle(row) : goTo(row)),
      " ": () => (row.hasChildren ? toggle(row) : goTo(row)),
    };
    const act = keys[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    }
  };
  const openAll = (isOpen: boolean): void => {
    setAllOpen(isOpen);
    setToggled(new Set());
  };
  const from = Math.max(0, Math.floor(scroll.top / ROW_HEIGHT) - BEYOND);
  const to = Math.ceil((scroll.top + scroll.height) / ROW_HEIGHT) + BEYOND;
  const isOnPage = index >= from && index < to;
  return (
    <section class="list" aria-label={l10n.t("Conversations")}>
      <div class="actions">
        <button type="button" onClick={() => openAll(true)}>
          {l10n.t("Expand All")}
        </button>
        <button type="button" onClick={() => openAll(false)}>
          {l10n.t("Collapse All")}
        </button>
      </div>
      <div
        ref={list}
        role="tree"
        class="tree"
        tabIndex={0}
        aria-label={l10n.t("Conversations")}
        {...(isOnPage ? { "aria-activedescendant": `row-${index}` } : {})}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" class="rows" style={{ height: `${shown.length * ROW_HEIGHT}px` }}>
          {shown.slice(from, to).map((row, offset) => (
            // biome-ignore lint/a11y: the tree has the focus, handles the keys and names the active row.
            <div
              key={row.id}
              id={`row-${from + offset}`}
              role="treeitem"
              class={`row ${row.kind} ${row.request === null ? "" : row.status}`}
              aria-level={row.depth + 1}
              aria-setsize={row.siblings}
              aria-posinset={row.position}
              aria-selected={row.id === current}
              {...(row.hasChildren ? { "aria-expanded": open.has(row.id) } : {})}
              style={{ top: `${(from + offset) * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px`, paddingInlineStart: `${row.depth * 12 + 4}px` }}
              onClick={() => {
                if (row.hasChildren) toggle(row);
                goTo(row);
              }}
            >
              <span class="twistie" aria-hidden="true">
                {row.hasChildren ? (open.has(row.id) ? "▾" : "▸") : ""}
              </span>
              <span class="title" title={said([row.title])}>
                {said([row.title])}
              </span>
              <span class="time">{shownTime(row.startedMs)}</span>
              <span class="details" title={said(row.details, " · ")}>
                {said(row.details, " · ")}
              </span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}

function without(set: ReadonlySet<string>, id: string): Set<string> {
  const smaller = new Set(set);
  smaller.delete(id);
  return smaller;
}

function openRows(rows: readonly TreeRow[], toggled: ReadonlySet<string>, allOpen: boolean | undefined): ReadonlySet<string> {
  const end = rows.findIndex(({ depth }, index) => index > 0 && depth === 0);
  const newest = rows.slice(0, end === -1 ? undefined : end);
  const first = new Set([rows[0]?.id, newest.findLast(({ depth }) => depth === 1)?.id]);
  const isOpenAtFirst = ({ id }: TreeRow): boolean => allOpen ?? first.has(id);
  return new Set(rows.filter((row) => isOpenAtFirst(row) !== toggled.has(row.id)).map(({ id }) => id));
}

/** Returns the rows that no closed row hides, with their places among their siblings. */
function visible(rows: readonly TreeRow[], open: ReadonlySet<string>): Shown[] {
  /** For each depth, the id of the last row. */
  const above: string[] = [];
  /** How many rows each row has below it so far. */
  const children = new Map<string, number>();
  const shown: (Omit<Shown, "siblings"> & { readonly parent: string })[] = [];
  let hiddenBelow = Number.POSITIVE_INFINITY;
  for (const [index, row] of rows.entries()) {
    if (row.depth > hiddenBelow) continue;
    const hasChildren = (rows[index + 1]?.depth ?? 0) > row.depth;
    hiddenBelow = hasChildren && !open.has(row.id) ? row.depth : Number.POSITIVE_INFINITY;
    above[row.depth] = row.id;
    const parent = above[row.depth - 1] ?? "";
    const position = (children.get(parent) ?? 0) + 1;
    children.set(parent, position);
    shown.push({ ...row, hasChildren, position, parent });
  }
  return shown.map((row) => ({ ...row, siblings: children.get(row.parent)! }));
}
