import './shared/theme.css';

import { mount } from 'svelte';

import App from './App.svelte';
import { connect } from './api';
import { look } from './live/look.svelte';

look.apply();

const target = document.getElementById('app');
if (target === null) throw new Error('the page has no place for the app');

connect().then(
  () => mount(App, { target }),
  (thrown: unknown) => {
    // Nothing is there yet that could show it better.
    target.textContent = `Ebb could not start: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  },
);
