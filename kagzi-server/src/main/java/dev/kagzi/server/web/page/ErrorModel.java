package dev.kagzi.server.web.page;

/** What an error page shows. */
public record ErrorModel(int status, String message) {}
