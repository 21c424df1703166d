package dev.kagzi.server.web;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.callback.TrustedProxies;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.web.namespaces.NamespacePages;
import dev.kagzi.server.web.overview.OverviewPages;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageHandler;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.queues.QueuePages;
import dev.kagzi.server.web.run.RunPages;
import dev.kagzi.server.web.runs.RunListPages;
import dev.kagzi.server.web.schedules.SchedulePages;
import dev.kagzi.server.web.search.SearchPages;
import dev.kagzi.server.web.start.StartPages;
import dev.kagzi.server.web.types.TypePages;
import dev.kagzi.server.web.workers.WorkerPages;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Serves the dashboard. Thread-safe. */
public final class Dashboard implements AutoCloseable {
  private static final String ASSETS = "/assets/";
  private static final String FORM_TOKEN = "form_token";

  private final Supplier<Engine> engine;
  private final HangGuard hangs;
  private final Browsers browsers;
  private final Login login;
  private final Assets assets = new Assets();
  private final Replies replies;
  private final LiveStreams streams = new LiveStreams();
  private final InstantSource clock = InstantSource.system();
  private final List<PageGroup> pages;

  /**
   * Creates the dashboard of a server whose engine may not have started yet.
   *
   * @param proxies whose forwarded addresses are trusted
   * @param engine returns the engine, or throws a Refusal while the server starts
   */
  public Dashboard(
      ListenConfig listen,
      DashboardConfig config,
      TrustedProxies proxies,
      String version,
      Supplier<Engine> engine) {
    this.engine = engine;
    this.hangs = new HangGuard(() -> engine.get().unavailableReason());
    this.browsers =
        new Browsers(listen, config, version, () -> engine.get().endedLogins(), hangs, clock);
    this.login = new Login(listen, proxies, browsers, clock);
    this.replies = new Replies(browsers, clock);
    this.pages =
        List.of(
            new OverviewPages(config.attention()),
            new RunListPages(),
            new RunPages(),
            new SearchPages(),
            new StartPages(),
            new SchedulePages(),
            new WorkerPages(),
            new QueuePages(),
            new TypePages(),
            new NamespacePages());
  }

  /** Returns whether a path needs no token. */
  public boolean isOpen(String path) {
    return path.equals(Login.PATH) || path.startsWith(ASSETS);
  }

  /**
   * Returns whether the browser has a session that the token opened. May block.
   *
   * @throws Refusal if the database does not answer
   */
  public boolean isLoggedIn(Context context) {
    return browsers.isLoggedIn(context);
  }

  /** Returns whether the caller is a browser that shows a page, and not a script. */
  public static boolean wantsPage(Context context) {
    String accept = context.header("Accept");
    return accept != null && accept.contains("text/html");
  }

  /** Sends a browser that has no session to the login page. */
  public void askLogin(Context context) {
    context.redirect(Login.href(context));
  }

  /**
   * Registers all pages.
   *
   * @param plainStart answers callers of the start page that are no browsers
   */
  public void register(RoutesConfig routes, Handler plainStart) {
    routes.get(ASSETS + "{name}", this::asset);
    routes.exception(Refusal.class, (refusal, context) -> replies.refused(context, refusal));
    routes.get(Login.PATH, context -> replies.send(context, login.show(context)));
    routes.post(Login.PATH, action(login::enter));
    routes.post("/logout", action(login::leave));
    routes.error(
        404,
        context -> {
          if (wantsPage(context) && context.endpoints().lastHttpEndpoint() == null) {
            replies.error(
                context, 404, "There is no page " + Refusal.shorten(context.path()) + ".");
          }
        });
    pages.forEach(group -> group.register(new JavalinRoutes(routes, plainStart)));
  }

  private void asset(Context context) {
    var asset = assets.find(context.pathParam("name"));
    if (asset.isEmpty()) {
      context.status(404).contentType("text/plain; charset=utf-8").result("no such file\n");
      return;
    }
    context
        .contentType(asset.get().contentType())
        .header("Cache-Control", "no-cache")
        .header("ETag", "\"" + asset.get().hash() + "\"");
    if (("\"" + asset.get().hash() + "\"").equals(context.header("If-None-Match"))) {
      context.status(304);
    } else {
      context.result(asset.get().content());
    }
  }

  private final class JavalinRoutes implements PageRoutes {
    private final RoutesConfig routes;
    private final Handler plainStart;

    JavalinRoutes(RoutesConfig routes, Handler plainStart) {
      this.routes = routes;
      this.plainStart = plainStart;
    }

    @Override
    public void get(String path, PageHandler page) {
      Handler shown = context -> show(context, page);
      routes.get(
          path,
          context -> {
            boolean isForScripts = path.equals("/") && !wantsPage(context);
            (isForScripts ? plainStart : shown).handle(context);
          });
    }

    @Override
    public void post(String path, PageHandler action) {
      routes.post(path, action(context -> change(request(context), action)));
    }

    @Override
    public void live(String path, PageHandler fragment) {
      routes.get(PageRequest.LIVE + path, context -> stream(context, fragment));
    }
  }

  private void show(Context context, PageHandler page) {
    PageRequest request = request(context);
    replies.send(context, hangs.call(() -> page.handle(request)));
  }

  // HangGuard runs the action in its own thread, which may outlive the request. The HTTP server
  // reuses Context objects, so do not pass the Context to that thread.
  private PageReply change(PageRequest request, PageHandler action) {
    return hangs.change(() -> action.handle(request));
  }

  private PageRequest request(Context context) {
    boolean isForm = context.req().getMethod().equals("POST");
    boolean isLive = context.path().startsWith(PageRequest.LIVE + "/");
    return new PageRequest(
        engine.get(),
        isLive ? context.path().substring(PageRequest.LIVE.length()) : context.path(),
        context.pathParamMap(),
        context.queryParamMap(),
        isForm ? context.formParamMap() : Map.of(),
        isLive ? browsers.viewerOfPart(context) : browsers.viewer(context),
        clock.instant());
  }

  private interface ContextAction {
    PageReply handle(Context context);
  }

  private Handler action(ContextAction action) {
    return context -> {
      int refused = FormLimits.refusedStatus(context);
      if (refused != 0) {
        replies.error(
            context, refused, "This form is not accepted: it is too large or not a form.");
        return;
      }
      Sessions.Session session = browsers.require(context);
      if (browsers.sessions().acceptsForm(session, context.formParam(FORM_TOKEN))) {
        replies.send(context, action.handle(context));
      } else {
        replies.error(
            context, 403, "This form is out of date. Go back, load the page again, and retry.");
      }
    };
  }

  private void stream(Context context, PageHandler fragment) throws Exception {
    Sessions.Session session = browsers.require(context);
    PageRequest request = request(context);
    String url = context.path() + "?" + context.queryString();
    EventStream receiver = new EventStream(context.res());
    boolean isAccepted =
        streams.follow(
            url,
            () -> hangs.call(() -> replies.fragment(fragment.handle(at(request)))),
            receiver,
            () -> browsers.isOpen(session));
    if (!isAccepted) {
      context.status(503).result("too many open pages\n");
    }
  }

  private PageRequest at(PageRequest request) {
    return new PageRequest(
        request.engine(),
        request.path(),
        request.parameters(),
        request.query(),
        request.form(),
        request.viewer(),
        clock.instant());
  }

  /** Ends the live pages; their browsers reconnect to another server, or later. */
  @Override
  public void close() {
    streams.close();
  }
}
