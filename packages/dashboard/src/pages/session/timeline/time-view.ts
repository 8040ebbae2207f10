/** Part of the timeline that is seen, in milliseconds of folded time. */
export interface TimeView {
  readonly from: number;
  readonly to: number;
}

const narrowestMs = 300;

/** Returns a view of a width around the same middle, within the whole. */
export function within(view: TimeView, whole: TimeView): TimeView {
  const span = Math.max(1, whole.to - whole.from);
  const width = Math.min(span, Math.max(Math.min(narrowestMs, span), view.to - view.from));
  const from = Math.max(whole.from, Math.min(whole.to - width, view.from));
  return { from, to: from + width };
}

/** Returns a view that shows a share of the present one more or less, around a place. */
export function zoomed(view: TimeView, factor: number, around: number): TimeView {
  return {
    from: around - (around - view.from) * factor,
    to: around + (view.to - around) * factor,
  };
}

export function moved(view: TimeView, by: number): TimeView {
  return { from: view.from + by, to: view.to + by };
}
