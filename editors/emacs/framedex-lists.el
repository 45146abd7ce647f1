;;; framedex-lists.el --- Stacks and calls through a line, in lists  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; RET on a stack selects it and lists its frames.  RET on a frame, a callee or a caller goes to its source, or to its
;; public page if the source is not on this machine.  RET on a call opens its trace.

;;; Code:

(require 'framedex-server)
(require 'framedex-steps)
(require 'tabulated-list)

(defvar-local framedex-list--choose nil
  "Function that RET calls with the id of an entry.")

(defvar-local framedex-list--window nil
  "The window from which the list was requested.")

(defvar framedex-list-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'framedex-list-choose)
    (define-key map [mouse-2] #'framedex-list-choose)
    map)
  "Keys of `framedex-list-mode'.")

(define-derived-mode framedex-list-mode tabulated-list-mode "Framedex"
  "Major mode for lists of recorded stacks, calls and frames.")

(defun framedex-list-choose (&optional event)
  "Choose the entry at point, or the entry of a mouse EVENT."
  (interactive (list last-nonmenu-event))
  (when (mouse-event-p event) (mouse-set-point event))
  (let ((chosen (or (tabulated-list-get-id) (user-error "No entry on this line")))
        (choose framedex-list--choose)
        (window framedex-list--window))
    (when (window-live-p window) (select-window window))
    (funcall choose chosen)))

(defun framedex-list--show (name columns entries choose)
  "List ENTRIES with COLUMNS in a buffer called NAME; RET calls CHOOSE."
  (let ((window (selected-window))
        (buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (framedex-list-mode)
      (setq framedex-list--choose choose
            framedex-list--window window
            tabulated-list-format columns
            tabulated-list-entries entries)
      (tabulated-list-init-header)
      (tabulated-list-print))
    (pop-to-buffer buffer)))

(defun framedex-list--right (title width)
  "A column of numbers, with TITLE and WIDTH."
  (list title width nil :right-align t))

(defun framedex-list--through-line (method name columns entry choose)
  "List the answer to METHOD for this line, with COLUMNS, in a buffer called NAME.
ENTRY makes an entry of each; RET calls CHOOSE with this line and an entry's id."
  (let* ((here (framedex--here))
         (found (framedex--find method here)))
    (framedex-list--show name columns (mapcar entry found) (lambda (id) (funcall choose here id)))))

;;;###autoload
(defun framedex-list-stacks ()
  "List the stacks through this line, longest first."
  (interactive)
  (framedex-list--through-line
   :framedex/stacks "*framedex stacks*"
   (vector (framedex-list--right "Calls" 8) (framedex-list--right "Time" 10) '("Leads to" 0 nil))
   (lambda (stack)
     (list (plist-get stack :stack)
           (vector (number-to-string (plist-get stack :calls))
                   (plist-get stack :durationText)
                   (plist-get stack :boundary))))
   (lambda (here stack)
     (framedex--go-to (framedex--find :framedex/selectStack (append here (list :stack stack))))
     (framedex-list-frames))))

;;;###autoload
(defun framedex-list-frames ()
  "List the frames of the selected stack, outermost first."
  (interactive)
  (let* ((picked (framedex--find :framedex/stack nil))
         (number 0))
    (framedex-list--show
     "*framedex frames*"
     (vector (framedex-list--right "#" 4) '("Function" 60 nil) '("Place" 0 nil))
     (mapcar (lambda (frame)
               (setq number (1+ number))
               (let ((location (plist-get frame :location))
                     (public (plist-get frame :publicPlace)))
                 (list (or location (plist-get frame :url))
                       (vector (number-to-string number) (plist-get frame :function)
                               (cond (location (framedex-list--place location (plist-get frame :how)))
                                     (public (concat public " [not here]"))
                                     (t ""))))))
             (plist-get picked :stackFrames))
     (lambda (place)
       (if (stringp place) (framedex--browse place) (framedex--visit-location place))))
    (goto-char (point-min))
    (forward-line (plist-get picked :frame))))

(defun framedex-list--place (location how)
  "Format LOCATION, with its quality HOW unless that is exact."
  (format "%s:%d%s" (file-name-nondirectory (framedex--path (plist-get location :uri)))
          (1+ (framedex--line location))
          (if (equal how "exact") "" (format " [%s]" how))))

(defun framedex-list--ways (method name)
  "List the functions in the answer to METHOD, in a buffer called NAME."
  (framedex-list--through-line
   method name
   (vector (framedex-list--right "Calls" 8) '("Place" 30 nil) '("Function" 0 nil))
   (lambda (way)
     (list (plist-get way :location)
           (vector (format "%s" (or (plist-get way :calls) "")) (plist-get way :place) (plist-get way :function))))
   (lambda (_here location) (framedex--visit-location location))))

;;;###autoload
(defun framedex-list-callees ()
  "List the callees of this line, likeliest first."
  (interactive)
  (framedex-list--ways :framedex/waysIn "*framedex callees*"))

;;;###autoload
(defun framedex-list-callers ()
  "List the callers of this line, most calls first."
  (interactive)
  (framedex-list--ways :framedex/waysOut "*framedex callers*"))

;;;###autoload
(defun framedex-list-calls ()
  "List the latest calls through this line."
  (interactive)
  (framedex-list--through-line
   :framedex/callsThrough "*framedex calls*"
   (vector (framedex-list--right "Call" 8) (framedex-list--right "Time" 10) '("Function" 45 nil)
           '("Thread" 20 nil) '("Arguments" 0 nil))
   (lambda (call)
     (list (plist-get call :id)
           (vector (number-to-string (plist-get call :id)) (plist-get call :durationText)
                   (plist-get call :function) (plist-get call :thread) (plist-get call :arguments))))
   (lambda (here call)
     (framedex--open-trace (append here (list :call call))))))

(provide 'framedex-lists)
;;; framedex-lists.el ends here
