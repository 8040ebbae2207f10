import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Server whose API the page calls during `npm run dev`. */
const server = process.env['ADJUTANT_URL'] ?? 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [react()],
  // Addresses of the page are relative to `<base href>`: it works behind any path prefix.
  base: './',
  resolve: {
    alias: {
      '@adjutant/server/client': fileURLToPath(
        new URL('../server/src/client/index.ts', import.meta.url),
      ),
    },
  },
  build: {
    target: 'es2022',
    // The Content-Security-Policy lets no inline script or style in.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  server: { proxy: { '/v1': { target: server, changeOrigin: false } } },
});
