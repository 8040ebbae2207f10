/** Returns the words of a command line that name a lane; none for the default lane. */
export function laneWords(lane: string | undefined): string[] {
  return lane === undefined ? [] : ['--lane', lane];
}

/** Returns the part of a sentence that names a lane; none for the default lane. */
export function inLane(lane: string | undefined): string {
  return lane === undefined ? '' : ` in the lane "${lane}"`;
}
