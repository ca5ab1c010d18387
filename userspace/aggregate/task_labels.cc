#include "userspace/aggregate/task_labels.h"

namespace lumbre {

LabelSetId TaskLabels::of(const lumbre_task& task, bool is_approximate, const LabelSet& more) {
  std::string key(reinterpret_cast<const char*>(&task), sizeof(task));
  key += is_approximate ? 'a' : '-';
  for (const LabelValue& value : more) {
    key += value.key + '\0' + value.text + '\0' + std::to_string(value.number) + '\0';
  }
  const auto [known, is_new] = known_.try_emplace(std::move(key), 0);
  if (is_new) {
    LabelSet set;
    const bool is_visible = task.visible_pid != 0;
    set.push_back({"pid", "", is_visible ? task.visible_pid : task.host_pid});
    set.push_back({"tid", "", is_visible ? task.visible_tid : task.host_tid});
    if (is_visible && task.visible_pid != task.host_pid) {
      set.push_back({"host_pid", "", task.host_pid});
    }
    set.push_back({"process", task.process_name, 0});
    set.push_back({"thread", task.thread_name, 0});
    set.insert(set.end(), more.begin(), more.end());
    if (is_approximate) {
      set.push_back({"approximate", "yes", 0});
    }
    known->second = labels_.intern(set);
  }
  return known->second;
}

}  // namespace lumbre
