package dev.kagzi.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "completion",
    description = "Prints a script that completes commands and options in a shell.",
    footer = {
      "",
      "Example:",
      "  source <(kagzi completion bash)      # in ~/.bashrc",
      "  source <(kagzi completion zsh)       # in ~/.zshrc, after compinit"
    })
final class CompletionCommand implements Runnable {

  enum Shell {
    BASH,
    ZSH
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
  Shell shell = Shell.BASH;

  /** The script of picocli serves both shells: it loads bashcompinit if zsh reads it. */
  @Override
  public void run() {
    spec.commandLine().getOut().println(AutoComplete.bash("kagzi", Main.commandLine()));
    spec.commandLine().getOut().flush();
  }
}
