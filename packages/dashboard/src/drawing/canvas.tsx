import { useEffect, useRef } from 'react';
import { onThemeChange } from '../shell/theme.ts';

/** Size of a canvas in CSS pixels. */
export interface CanvasSize {
  readonly width: number;
  readonly height: number;
}

interface CanvasProps {
  /** Draws everything. A new function is drawn in the next frame. */
  readonly draw: (context: CanvasRenderingContext2D, size: CanvasSize) => void;
  /** Name of the picture; without one it is decoration beside a text that says the same. */
  readonly label?: string;
  readonly className?: string | undefined;
  readonly onSize?: (size: CanvasSize) => void;
}

/** A canvas as large as its place, drawn at most once a frame: when its content, size or theme change. */
export function Canvas({ draw, label, className, onSize }: CanvasProps) {
  const element = useRef<HTMLCanvasElement>(null);
  const latest = useRef({ draw, onSize });
  latest.current = { draw, onSize };
  const schedule = useRef<() => void>(() => undefined);
  useEffect(() => {
    const canvas = element.current;
    const context = canvas?.getContext('2d') ?? null;
    if (canvas === null || context === null) return undefined;
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      const { width, height } = canvas.getBoundingClientRect();
      if (width === 0 || height === 0) return;
      const ratio = Math.max(1, devicePixelRatio);
      const [pixels, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== pixels) canvas.width = pixels;
      if (canvas.height !== rows) canvas.height = rows;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      latest.current.draw(context, { width, height });
    };
    schedule.current = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) latest.current.onSize?.(entry.contentRect);
      schedule.current();
    });
    observer.observe(canvas);
    const stop = onThemeChange(() => requestAnimationFrame(() => schedule.current()));
    return () => {
      observer.disconnect();
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new function is a new picture
  useEffect(() => schedule.current(), [draw]);
  return (
    <canvas
      ref={element}
      className={className}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    />
  );
}
