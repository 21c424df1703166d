/**
 * The dashboard in a real Chromium, against a server with workers. {@link
 * dev.kagzi.browser.BrowserTest} has what each test class needs.
 */
@NullMarked
package dev.kagzi.browser;

import org.jspecify.annotations.NullMarked;
