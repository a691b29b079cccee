import { bytes } from '../../shared/format';

export const shared = {
  close: 'Close',
  cancel: 'Cancel',
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  copyDetail: 'Copy details',
  notCopied: (why: string) => `It could not be copied: ${why}.`,
  notCopiedHint: 'Click into the page, allow it to use the clipboard where you are asked, and try again.',
  browse: 'Browse…',
  save: 'Save',
  remove: 'Remove',
  loading: 'One moment…',
  unknown: 'unknown',
  quitTitle: 'Requests are running',
  quitBody: 'They would end without an answer. Models that are loaded come back at the next start.',
  stay: 'Stay',
  quitAnyway: 'Quit now',
  meter: (inUse: string, reserved: string, limit_bytes: number | null) =>
    `${inUse} in use of ${reserved} reserved${limit_bytes === null ? '' : `, cap ${bytes(limit_bytes)}`}`,
};

export const app = {
  name: 'Ebb',
  views: {
    models: 'Models',
    memory: 'Memory',
    chat: 'Try',
    plugins: 'Plugins',
    activity: 'Activity',
    settings: 'Settings',
  },
  navigation: 'Views',
  skip: 'Skip to content',
  connecting: 'Connecting to the host…',
  lost: 'The host does not answer. What is shown is what was known last; the page goes on by itself when it is back.',
  unknownHere:
    'The host was started anew and does not know this browser. Run `ebb ui` in a terminal and open the link that it prints, in this browser: this page then goes on by itself.',
  broken: (why: string) => `This view could not be shown: ${why}`,
  brokenHint:
    'Try again. Where that does not help, the other views go on; what was kept in this browser may be to blame, and clearing the data of this page helps then.',
  /** Under the name, in the side bar. */
  machine: (available: string, total: string) => `${available} free of ${total}`,
};
