/** VitePress's own theme, with the colours of the project. */
import DefaultTheme from 'vitepress/theme';
import './style.css';

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default DefaultTheme;
