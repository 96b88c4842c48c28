/** Starts the page. */
import { render } from 'preact';
import { App } from './parts/app.tsx';
import { connect } from './state/stream.ts';

const page = document.getElementById('page');
if (page !== null) render(<App />, page);
connect();
