import type { Transport } from './transport';

/** A browser against `ebb server --ui`: same origin, the login link has left a cookie. */
export const http: Transport = {
  name: 'http',
  fetch: (request) => fetch(request, { credentials: 'same-origin' }),
  native: null,
};
