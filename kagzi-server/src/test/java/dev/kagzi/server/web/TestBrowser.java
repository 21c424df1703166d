package dev.kagzi.server.web;

import dev.kagzi.server.TestServer;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Loads pages and sends their forms, as a browser without scripts does. */
final class TestBrowser {
  private static final Pattern FORM_TOKEN =
      Pattern.compile("name=\"form_token\" value=\"([^\"]+)\"");

  private final HttpClient client =
      HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
  private final String root;

  TestBrowser(TestServer server) {
    this.root = "http://127.0.0.1:" + server.server().httpPort();
  }

  HttpResponse<String> load(String path) throws IOException, InterruptedException {
    return client.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofString());
  }

  /**
   * Sends the fields to a path, with the form token of a page that has it.
   *
   * @param fields names and values in turn
   */
  HttpResponse<String> send(String page, String path, String... fields)
      throws IOException, InterruptedException {
    return sendForm(path, formToken(page), fields);
  }

  /** Returns the form token of a page; empty if it has none. */
  String formToken(String page) throws IOException, InterruptedException {
    Matcher token = FORM_TOKEN.matcher(load(page).body());
    return token.find() ? token.group(1) : "";
  }

  HttpResponse<String> sendForm(String path, String formToken, String... fields)
      throws IOException, InterruptedException {
    StringBuilder body = new StringBuilder("form_token=").append(encoded(formToken));
    for (int i = 0; i < fields.length; i += 2) {
      body.append('&').append(fields[i]).append('=').append(encoded(fields[i + 1]));
    }
    return client.send(
        request(path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(root + path)).header("Accept", "text/html");
  }

  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /** Returns where a response sends the browser. */
  static String location(HttpResponse<?> response) {
    return response.headers().firstValue("Location").orElse("");
  }
}
