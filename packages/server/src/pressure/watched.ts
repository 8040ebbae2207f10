/**
 * Asked for by machines that watch over the server, many of which may share an address: an answer
 * must not be refused to them.
 */
export const watched: ReadonlySet<string> = new Set(['/v1/health', '/v1/ready']);
