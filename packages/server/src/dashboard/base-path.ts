/** Path below which browsers see the server: `/`, or the path of `publicUrl` with a slash. */
export function basePath(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '/' : `${new URL(publicUrl).pathname.replace(/\/$/, '')}/`;
}
