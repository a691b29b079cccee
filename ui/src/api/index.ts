/** The one way of this page to the host. */
export { api, done, given, looked, native, opened, use, way } from './client';
export { connect } from './connect';
export { ApiError, isCancelled } from './error';
export { pieces, serverSent, textLines } from './lines';
export type { DesktopInfo, Native, Pick, Transport } from './transport';
export type * from './types';
