import { useCallback, useMemo, useRef } from 'react';
import { Canvas, type CanvasSize } from '../../../drawing/canvas.tsx';
import { Layer } from '../../../drawing/layer.ts';
import { palette } from '../../../drawing/palette.ts';
import type { Position } from '../position.ts';
import { drawMinimap, type TimelineScene } from './draw-timeline.ts';
import styles from './minimap.module.css';
import { moved, type TimeView } from './time-view.ts';

interface MinimapProps {
  readonly scene: TimelineScene;
  readonly whole: TimeView;
  readonly position: Position;
  readonly onView: (view: TimeView) => void;
}

const keyStep = 0.1;

/** The whole timeline, small, with a brush over the part that is seen. */
export function Minimap({ scene, whole, position, onView }: MinimapProps) {
  const place = useRef<HTMLDivElement>(null);
  const dragged = useRef<{ x: number; view: TimeView } | undefined>(undefined);
  const layer = useMemo(() => new Layer(), []);
  const { view, columns, time, end } = scene;
  const span = Math.max(1, whole.to - whole.from);
  const at = columns.eventAt(position.seq)?.at ?? end;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: CanvasSize) => {
      layer.paint(size, `${columns.count} ${time.gaps.length} ${end}`, (picture) =>
        drawMinimap(picture, size, scene),
      );
      const x = ((time.place(at) - whole.from) / span) * size.width;
      layer.copyTo(context, size, x + 0.5);
      context.fillStyle = palette().colour('ink');
      context.fillRect(Math.min(size.width - 1.5, x), 0, 1.5, size.height);
    },
    [layer, columns, time, end, scene, at, whole, span],
  );
  const left = ((view.from - whole.from) / span) * 100;
  const width = ((view.to - view.from) / span) * 100;
  return (
    <div ref={place} className={styles['minimap']}>
      <Canvas draw={draw} className={styles['canvas']} />
      <div
        className={styles['brush']}
        role="slider"
        tabIndex={0}
        aria-label="Visible part of the timeline"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(left)}
        aria-valuetext={`from ${Math.round(left)} to ${Math.round(left + width)} percent`}
        style={{ left: `${left}%`, width: `${width}%` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          dragged.current = { x: event.clientX, view };
        }}
        onPointerMove={(event) => {
          const start = dragged.current;
          const pixels = place.current?.clientWidth ?? 1;
          if (start !== undefined)
            onView(moved(start.view, ((event.clientX - start.x) / pixels) * span));
        }}
        onPointerUp={() => {
          dragged.current = undefined;
        }}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -keyStep, ArrowRight: keyStep }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          onView(moved(view, step * (view.to - view.from)));
        }}
      />
    </div>
  );
}
