// A plugin that wants what this LibTorch does not have, as one built with another LibTorch does.
namespace c10 {
void OnlyInAnotherVersion();
}

extern "C" void dlcheck_plugin_versions() { c10::OnlyInAnotherVersion(); }
