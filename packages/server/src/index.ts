export type { Permission, Principal, Role } from './access/principal.ts';
export type { Problem } from './http/problem.ts';
export { RequestRefusedError } from './http/problem.ts';
export { InvalidServerError } from './option-checks.ts';
export type { AuthOptions, CorsOptions, JwtOptions, ServerLimits, ServerOptions, StreamOptions } from './options.ts';
export { CannotListenError, type ListeningServer, type ServeOptions, type ShutdownOptions, serve } from './serve.ts';
export { type AdjutantServer, server } from './server.ts';
