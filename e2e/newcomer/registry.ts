import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dist?: { readonly tarball: string };
  readonly [member: string]: unknown;
}

interface Source {
  readonly manifest: Manifest;
  /** A packed file, or the folder of an installed package. `undefined`: not installed here. */
  readonly path: string | undefined;
}

export interface Registry {
  readonly url: string;
  close(): void;
}

/**
 * Serves packages on loopback, as the registry of npm would: those that `npm run build` packed, and
 * those that are installed in this repository. So a project is installed without a network.
 */
export async function startRegistry(root: string): Promise<Registry> {
  const sources = sourcesIn(root);
  const server = createServer((request, response) => {
    const [path = ''] = decodeURIComponent(request.url ?? '').split('?');
    const url = `http://${request.headers.host}`;
    if (path.startsWith('/-/tarball/')) sendTarball(response, sources, path.slice(11));
    else sendPackument(response, sources, path.slice(1), url);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Versions of each package, the one that a project gets by default first. */
type Sources = ReadonlyMap<string, readonly Source[]>;

function sourcesIn(root: string): Sources {
  const found = new Map<string, Source[]>();
  const add = (source: Source): void => {
    const { name } = source.manifest;
    found.set(name, [...(found.get(name) ?? []), source]);
  };
  for (const source of packedIn(join(root, 'dist'))) add(source);
  for (const source of lockedIn(root)) add(source);
  return found;
}

function packedIn(dist: string): readonly Source[] {
  return readdirSync(join(dist, 'stage')).map((folder) => {
    const manifest = readManifest(join(dist, 'stage', folder));
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
    return { manifest, path: join(dist, 'packages', file) };
  });
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

const installed = /^(?:packages\/[^/]+\/)?node_modules\//;

function lockedIn(root: string): readonly Source[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Manifest & { readonly link?: boolean }>>;
  };
  return Object.entries(packages)
    .filter(([place, { link }]) => installed.test(place) && link !== true)
    .sort(([a], [b]) => a.length - b.length)
    .map(([place, locked]) => {
      const path = join(root, place);
      const name = place.slice(place.lastIndexOf('node_modules/') + 13);
      // Of a package for another platform only the lock file tells, and npm passes it over.
      return existsSync(join(path, 'package.json'))
        ? { manifest: readManifest(path), path }
        : { manifest: { ...locked, name }, path: undefined };
    });
}

function sendPackument(response: ServerResponse, all: Sources, name: string, url: string): void {
  const sources = all.get(name);
  if (sources === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Not found"}');
    return;
  }
  const versions = Object.fromEntries(
    sources.map(({ manifest: { scripts: _, ...manifest } }) => {
      const tarball = `${url}/-/tarball/${encodeURIComponent(`${name}@${manifest.version}`)}`;
      return [manifest.version, { ...manifest, dist: { tarball } }];
    }),
  );
  const latest = sources[0]?.manifest.version;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions }));
}

function sendTarball(response: ServerResponse, all: Sources, id: string): void {
  const at = id.lastIndexOf('@');
  const source = all
    .get(id.slice(0, at))
    ?.find(({ manifest }) => manifest.version === id.slice(at + 1));
  if (source?.path === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  if (source.path.endsWith('.tgz')) {
    response.end(readFileSync(source.path));
    return;
  }
  const [parent, folder] = [dirname(source.path), basename(source.path)];
  const args = ['-cf', '-', '--exclude', `${folder}/node_modules`, '-C', parent, folder];
  const tar = spawn('tar', ['--use-compress-program', 'gzip -1', ...args]);
  tar.stdout.pipe(response);
}
