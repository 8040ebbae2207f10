import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { useRawLocation, useRawSearch } from './address/location.ts';
import { basePath } from './api/client.ts';
import { queries } from './api/queries.ts';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme.ts';
import './styles/tokens.css';
import './styles/base.css';

applyTheme();

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Router base={basePath} hook={useRawLocation} searchHook={useRawSearch}>
          <App />
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  );
