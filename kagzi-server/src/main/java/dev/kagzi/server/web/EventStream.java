package dev.kagzi.server.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Server-sent events on one connection; its headers are sent with the first of them. */
final class EventStream implements LiveStreams.Receiver {
  private final HttpServletResponse response;
  private boolean begun;

  EventStream(HttpServletResponse response) {
    this.response = response;
  }

  @Override
  public void send(LiveStreams.Event event) throws IOException {
    StringBuilder text = new StringBuilder("event: ").append(event.name()).append('\n');
    event.data().lines().forEach(line -> text.append("data: ").append(line).append('\n'));
    write(text.append('\n').toString());
  }

  @Override
  public void keepAlive() throws IOException {
    write(":\n\n");
  }

  private void write(String text) throws IOException {
    if (!begun) {
      begun = true;
      response.setContentType("text/event-stream");
      response.setCharacterEncoding("UTF-8");
      response.setHeader("Cache-Control", "no-store");
      // For proxies such as nginx, which would otherwise collect events.
      response.setHeader("X-Accel-Buffering", "no");
    }
    response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    response.flushBuffer();
  }
}
