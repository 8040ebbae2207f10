import { useCallback, useMemo } from 'react';
import { Canvas, type CanvasSize } from '../../drawing/canvas.tsx';
import { palette } from '../../drawing/palette.ts';
import type { Columns } from '../../ledger/columns.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import styles from './compared-strips.module.css';

interface ComparedStripsProps {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
  readonly shared: number;
  readonly shape: number;
}

const heights = { message: 24, error: 24, wait: 22, model: 19, tool: 15 } as const;
const lowest = 8;
const [upper, lower] = [34, 82];

/** Both ledgers as marks: the upper one whole, the lower one from where it leaves. */
export function ComparedStrips({ left, right, shared, shape }: ComparedStripsProps) {
  const most = Math.max(left.columns.count, right.columns.count, 1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the columns
  const draw = useCallback(
    (context: CanvasRenderingContext2D, { width }: CanvasSize) => {
      const each = width / most;
      marks(context, { columns: left.columns, from: 1, each, base: upper, faintTo: shared });
      marks(context, { columns: right.columns, from: shared + 1, each, base: lower, faintTo: 0 });
      const x = Math.max(1, shared * each);
      context.strokeStyle = palette().colour('ink');
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, upper);
      context.lineTo(x, lower - 6);
      context.quadraticCurveTo(x, lower, x + 6, lower);
      context.lineTo(Math.max(x + 6, right.columns.count * each), lower);
      context.stroke();
      context.fillStyle = palette().colour('ink');
      context.beginPath();
      context.arc(x, upper, 4, 0, 7);
      context.fill();
    },
    [left, right, shared, most, shape],
  );
  const words = useMemo(
    () =>
      shared === 0
        ? 'These sessions share no event.'
        : `#1 to #${shared.toLocaleString('en')} are the same events`,
    [shared],
  );
  return (
    <div className={styles['strips']}>
      <Canvas draw={draw} className={styles['canvas']} />
      <p>
        <span>{words}</span>
        <span>upper: A · lower: B</span>
      </p>
    </div>
  );
}

interface Marks {
  readonly columns: Columns;
  readonly from: number;
  readonly each: number;
  readonly base: number;
  /** Marks up to this event are faint. */
  readonly faintTo: number;
}

function marks(
  context: CanvasRenderingContext2D,
  { columns, from, each, base, faintTo }: Marks,
): void {
  const width = Math.max(1, Math.min(6, each * 0.6));
  let drawnTo = -1;
  for (let seq = from; seq <= columns.count; seq++) {
    const x = (seq - 0.5) * each - width / 2;
    if (x < drawnTo) continue;
    drawnTo = x + 1;
    const kind = columns.kindAt(seq);
    const height = (heights as Readonly<Record<string, number>>)[kind] ?? lowest;
    context.globalAlpha = seq <= faintTo ? 0.5 : 1;
    context.fillStyle = palette().colour(`${kind}-fill`);
    context.fillRect(x, base - height, width, height);
  }
  context.globalAlpha = 1;
}
