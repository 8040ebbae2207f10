/** A rectangle with round corners that no size is too small for. */
export function roundRect(
  context: CanvasRenderingContext2D,
  [x, y, width, height]: readonly [number, number, number, number],
  radius: number,
): void {
  context.beginPath();
  context.roundRect(x, y, width, height, Math.max(0, Math.min(radius, width / 2, height / 2)));
}

/** Slanted lines over a rectangle: something waits there. */
export function hatch(
  context: CanvasRenderingContext2D,
  [x, y, width, height]: readonly [number, number, number, number],
  colour: string,
): void {
  const spacing = 5;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  for (let start = x - height; start < x + width; start += spacing) {
    context.moveTo(start, y + height);
    context.lineTo(start + height, y);
  }
  context.stroke();
  context.restore();
}

/** Draws the mark of decisions. */
export function diamond(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  size: number,
): void {
  context.beginPath();
  context.moveTo(x, y - size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + size);
  context.lineTo(x - size, y);
  context.closePath();
}

/** Draws the mark of failures. */
export function cross(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
}
