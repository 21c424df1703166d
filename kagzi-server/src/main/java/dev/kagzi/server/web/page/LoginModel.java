package dev.kagzi.server.web.page;

/**
 * What the login page shows.
 *
 * @param next the page that the browser asked for
 * @param problem why the last try was refused; empty for none
 */
public record LoginModel(String next, String problem) {}
